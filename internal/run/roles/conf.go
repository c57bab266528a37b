package roles

import (
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/lazyregexp"
)

// The configuration of nats-server has two parts that follow from the installation: the permissions
// of each role, without secrets, and the users of each role with their public keys.

const confHead = "# Written by natsusers from internal/run/roles: do not edit.\n"

// RolesConf returns the permissions of roles as variables, for use by UsersConf.
func (in *Installation) RolesConf() string {
	var b strings.Builder
	b.WriteString(confHead)
	for _, r := range in.All() {
		fmt.Fprintf(&b, "\n# %s\n%s: {\n", r.About, variable(r.Name))
		writeGrants(&b, "publish", r.Publish)
		writeGrants(&b, "subscribe", r.Subscribe)
		if r.answers() {
			b.WriteString("  # Replies to requests: one from each service of the process.\n  allow_responses: { max: 4, expires: \"1m\" }\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// variable returns the variable of a role in the configuration.
func variable(role string) string {
	return "MAY_" + strings.ToUpper(strings.ReplaceAll(role, "-", "_"))
}

func writeGrants(b *strings.Builder, verb string, grants []Permissions) {
	fmt.Fprintf(b, "  %s: { allow: [\n", verb)
	seen := make(map[string]bool)
	for _, g := range grants {
		fmt.Fprintf(b, "    # %s\n", g.Why)
		for _, s := range g.Subjects {
			if !seen[s] {
				fmt.Fprintf(b, "    %q\n", s)
			}
			seen[s] = true
		}
	}
	b.WriteString("  ] }\n")
}

// answers reports whether the role answers requests: then it subscribes to more than its inboxes.
func (r *Role) answers() bool { return len(r.Subscribe) > 1 }

// UsersConf returns the accounts and users. keys are the public NKEYs of the users, by role.
func (in *Installation) UsersConf(keys map[string]string) string {
	var b strings.Builder
	b.WriteString(confHead)
	b.WriteString("\ninclude \"roles.conf\"\n\naccounts {\n")
	border := in.border()
	var accounts []string
	users := make(map[string][]Role)
	for _, r := range in.All() {
		if users[r.account()] == nil {
			accounts = append(accounts, r.account())
		}
		users[r.account()] = append(users[r.account()], r)
	}
	for _, name := range accounts {
		fmt.Fprintf(&b, "  %s {\n", name)
		if name == account {
			b.WriteString("    jetstream: enabled\n")
		}
		writeLines(&b, "exports", border.exports[name])
		writeLines(&b, "imports", border.imports[name])
		b.WriteString("    users: [\n")
		for _, r := range users[name] {
			fmt.Fprintf(&b, "      # %s\n      { nkey: %s, permissions: $%s }\n", r.Name, keys[r.Name], variable(r.Name))
		}
		b.WriteString("    ]\n  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

func writeLines(b *strings.Builder, what string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "    %s: [\n      %s\n    ]\n", what, strings.Join(lines, "\n      "))
	}
}

// Table returns the permissions of every role in Markdown.
func (in *Installation) Table() string {
	var b strings.Builder
	for _, r := range in.All() {
		if r.Name == Crawl || r.Name == Admin { // crawl is the union of other roles, admin may do everything
			continue
		}
		fmt.Fprintf(&b, "**%s**: %s.\n\n| may | to | subjects |\n|---|---|---|\n", r.Name, r.About)
		writeRows(&b, "publish", r.Publish)
		writeRows(&b, "subscribe", r.Subscribe)
		if r.answers() {
			b.WriteString("| publish | answer a request | its reply subject, at most four times, within a minute |\n")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func writeRows(b *strings.Builder, verb string, grants []Permissions) {
	for _, g := range grants {
		var all []string
		for _, s := range g.Subjects {
			s = "`" + ofPartition().ReplaceAllString(s, "$1<p>$2") + "`"
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", verb, g.Why, strings.Join(all, " "))
	}
}

// ofPartition matches the number of a partition in a subject.
var ofPartition = lazyregexp.New(`([-.])\d+(\.|$)`)
