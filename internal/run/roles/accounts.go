package roles

import (
	"fmt"
	"slices"
	"strings"

	"seine/pkg/messages"
)

// A server publishes an answer where the requester says, past all permissions of the
// requester: a value that it has stored, to a stream that it may not write. And a consumer
// pushes where its maker says. So a user that must not write specs or seeds is in a separate
// account, which reaches that of the streams by imports: the server replaces the
// reply subjects of what it asks by some of its own. What it would make consumers by
// goes to a frontier, which makes those that push to the inboxes of the requester (see
// stages.MakeConsumers).

// Accounts.
const (
	account = "SEINE" // has the streams, the frontier, and who may do as much
	apartOf = "SEINE_"
)

// account names the account of a role.
func (r *Role) account() string {
	if !r.Apart {
		return account
	}
	return apartOf + strings.ToUpper(strings.ReplaceAll(r.Name, "-", "_"))
}

// create begins the subjects by which consumers are made.
const create = "$JS.API.CONSUMER.CREATE."

// accountInfo is imported by all accounts, though not all users may ask it: a server
// takes that for the sign that the rest of JetStream's API is imported, too, and does
// not itself answer that the account has no JetStream (nats-server 2.15.2,
// enableJetStreamInfoServiceImportOnly).
const accountInfo = "$JS.API.INFO"

// makesConsumers reports whether a role that is apart makes consumers.
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

// makeFor lets a frontier make the consumers of roles that are apart.
func makeFor(all []Role) Permissions {
	g := Permissions{Why: "make the consumers of the other stages"}
	for i := range all {
		g.Subjects = append(g.Subjects, all[i].creates()...)
	}
	return g
}

// subjectsOf are those of some way, each once.
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

// border is what accounts give to each other: exports and imports, as lines of the
// server's configuration, by account.
type border struct{ exports, imports map[string][]string }

func (in *Installation) border() border {
	b := border{make(map[string][]string), make(map[string][]string)}
	users := make(map[string][]string) // accounts, by the subject that they import
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
		for _, s := range subjectsOf(r.Subscribe, Hears) {
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

// answered returns how many answers there are to a request: the server forgets the requester
// after the first, or when it listens for no more.
func answered(subject string) string {
	for _, many := range []string{"$JS.API.CONSUMER.MSG.NEXT.", "$SRV.", "seine.frontier.", "seine.vitals"} {
		if strings.HasPrefix(subject, many) {
			return "stream"
		}
	}
	return "singleton"
}
