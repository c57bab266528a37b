package roles

import (
	"fmt"
	"slices"
	"strings"

	"seine/pkg/messages"
)

// A server publishes a reply to any subject that the requester names, regardless of the requester's
// permissions. So a user could have a stored value sent to a stream that it must not write to.
// Likewise, a push consumer delivers to any subject that its creator names. So a user that must not
// write specs or seeds has a separate account, which imports subjects of the account of the
// streams: for imported requests, the server replaces reply subjects by its own. Requests to create
// consumers go to a frontier instead, which creates push consumers to the inboxes of the requester
// only (see stages.MakeConsumers).

// Accounts.
const (
	account = "SEINE" // of the streams, the frontier, and users with the same permissions
	apartOf = "SEINE_"
)

// account returns the account of a role.
func (r *Role) account() string {
	if !r.Apart {
		return account
	}
	return apartOf + strings.ToUpper(strings.ReplaceAll(r.Name, "-", "_"))
}

// create is the prefix of subjects that create consumers.
const create = "$JS.API.CONSUMER.CREATE."

// accountInfo is imported by all accounts, though not all users may request it. A server takes the
// import as the sign that the rest of JetStream's API is imported, too. Otherwise it replies that
// the account has no JetStream (nats-server 2.15.2, enableJetStreamInfoServiceImportOnly).
const accountInfo = "$JS.API.INFO"

// makesConsumers reports whether a role with its own account creates consumers.
func (r *Role) makesConsumers() bool {
	return r.Apart && len(r.creates()) > 0
}

func (r *Role) creates() (subjects []string) {
	for _, s := range subjectsOf(r.Publish, Through) {
		if strings.HasPrefix(s, create) {
			subjects = append(subjects, s)
		}
	}
	return subjects
}

// makeFor permits a frontier to create the consumers of roles with their own accounts.
func makeFor(all []Role) Permissions {
	g := Permissions{Why: "create the consumers of the other stages"}
	for i := range all {
		g.Subjects = append(g.Subjects, all[i].creates()...)
	}
	return g
}

// subjectsOf returns the subjects of one way, without duplicates.
func subjectsOf(grants []Permissions, way Way) (all []string) {
	seen := make(map[string]bool)
	for _, g := range grants {
		for _, s := range g.Subjects {
			if g.Way == way && !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		}
	}
	return all
}

// border is the exports and imports of accounts, as lines of the server's configuration, by
// account.
type border struct{ exports, imports map[string][]string }

func (in *Installation) border() border {
	b := border{make(map[string][]string), make(map[string][]string)}
	users := make(map[string][]string) // accounts that import a subject
	var order []string
	imported := func(r *Role, subject string) {
		if users[subject] == nil {
			order = append(order, subject)
		}
		users[subject] = append(users[subject], r.account())
	}
	for _, r := range in.All() {
		if !r.Apart {
			continue
		}
		own := r.account()
		for _, s := range append(subjectsOf(r.Publish, Through), accountInfo) {
			if strings.HasPrefix(s, create) || slices.Contains(users[s], own) {
				continue
			}
			imported(&r, s)
			b.imports[own] = append(b.imports[own], fmt.Sprintf("{ service: { account: %s, subject: %q } }", account, s))
		}
		if r.makesConsumers() {
			s := messages.SubjectConsumers(r.Name)
			imported(&r, s)
			b.imports[own] = append(b.imports[own], fmt.Sprintf("{ service: { account: %s, subject: %q }, to: %q }", account, s, create+">"))
		}
		for _, s := range subjectsOf(r.Subscribe, Answers) {
			b.exports[own] = append(b.exports[own], fmt.Sprintf("{ service: %q, response_type: stream, accounts: [%s] }", s, account))
			b.imports[account] = append(b.imports[account], fmt.Sprintf("{ service: { account: %s, subject: %q } }", own, s))
		}
		for _, s := range subjectsOf(r.Subscribe, Receives) {
			b.exports[account] = append(b.exports[account], fmt.Sprintf("{ stream: %q, accounts: [%s] }", s, own))
			b.imports[own] = append(b.imports[own], fmt.Sprintf("{ stream: { account: %s, subject: %q } }", account, s))
		}
	}
	for _, s := range order {
		b.exports[account] = append(b.exports[account],
			fmt.Sprintf("{ service: %q, response_type: %s, accounts: [%s] }", s, answered(s), strings.Join(users[s], ", ")))
	}
	return b
}

// answered returns the response type of a subject: the server drops the reply subject after the
// first response ("singleton"), or when the requester unsubscribes ("stream").
func answered(subject string) string {
	for _, many := range []string{"$JS.API.CONSUMER.MSG.NEXT.", "$SRV.", "seine.frontier.", "seine.vitals"} {
		if strings.HasPrefix(subject, many) {
			return "stream"
		}
	}
	return "singleton"
}
