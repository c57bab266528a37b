// Package roles says what each user of a locked-down NATS server may do: one for
// each stage, and for the people and programs beside them. The server's
// configuration and the table in deploy/nats/roles.md are written from it.
package roles

import (
	"fmt"

	"seine/pkg/messages"
)

// Permissions are subjects that a user may publish or subscribe to, and why.
type Permissions struct {
	Why      string
	Subjects []string
	// Way is how a user who is apart reaches them.
	Way Way
}

// Way says where subjects of a user who is apart lead.
type Way int

// Ways.
const (
	Through Way = iota // published: to the account of the streams, and answers from there
	Within             // it stays among those of the same role
	Answers            // subscribed: it answers what is asked in the account of the streams
	Hears              // subscribed: it receives messages there, and answers none
)

// Role is what a user may do. It may also publish to what it is asked to answer,
// and subscribe to its own inboxes.
type Role struct {
	Name  string // of the user
	About string
	// Apart is a separate account. It reaches of the one with the streams what
	// Publish says, and what is answered comes to its own account, whatever reply
	// subject it names: in the account of the streams a server publishes answers
	// there, past all permissions.
	Apart bool
	// Publish and Subscribe are all that is allowed.
	Publish, Subscribe []Permissions
}

// Installation is what a NATS server is to carry.
type Installation struct {
	Partitions int
	Chain      bool // fetchers parse, too: fetcher --chain
	Writers    []Writer
	Feeders    []SeedPublisher
}

// Writer is a writer of a name, which reads one stream.
type Writer struct {
	Name string `yaml:"name"` // --name
	From string `yaml:"from"` // --from: records, results or pages
}

// SeedPublisher is a user who may feed crawls, such as another program.
type SeedPublisher struct {
	Name   string   `yaml:"name"`
	Crawls []string `yaml:"crawls"`
	Spec   bool     `yaml:"spec"` // may give these crawls their spec, too
}

// Inboxes is the prefix of the inboxes of a user: what is sent to one, no other user
// can read.
func Inboxes(user string) string { return "_INBOX_" + user }

// The users that every installation has, beside writers and feeders.
const (
	Operator = "operator"
	Viewer   = "viewer"
	Monitor  = "monitor"
	Crawl    = "crawl"
	Admin    = "admin"
)

// All returns the roles, in the order of the documentation.
func (in *Installation) All() []Role {
	frontier, fetcher, renderer, parser := in.frontier(), in.fetcher(), in.renderer(), in.parser()
	if in.Chain {
		fetcher.Publish, fetcher.Subscribe = append(fetcher.Publish, parser.Publish...), append(fetcher.Subscribe, parser.Subscribe...)
	}
	all := []Role{frontier, fetcher, renderer, parser}
	for _, w := range in.Writers {
		all = append(all, in.writer(w))
	}
	all[0].Publish = append(all[0].Publish, makeFor(all[1:]))
	crawl := in.crawl(all)
	all = append(all, in.operator(), in.viewer(), monitor())
	for _, f := range in.Feeders {
		all = append(all, feeder(f))
	}
	all = append(all, crawl, admin())
	for i := range all {
		inboxes := Permissions{Why: "its own inboxes", Subjects: []string{Inboxes(all[i].Name) + ".>"}, Way: Within}
		if all[i].makesConsumers() {
			inboxes.Way = Hears // what they push is no answer
		}
		all[i].Subscribe = append(all[i].Subscribe, inboxes)
	}
	return all
}

// writerUser names the user of a writer.
func writerUser(name string) string {
	if name == "default" {
		return messages.StageWriter
	}
	return messages.StageWriter + "-" + name
}

// Check reports what is wrong with an installation.
func (in *Installation) Check() error {
	if in.Partitions < 1 || in.Partitions > messages.MaxPartitions {
		return fmt.Errorf("partitions: %d: must be from 1 to %d", in.Partitions, messages.MaxPartitions)
	}
	seen := make(map[string]bool)
	for _, w := range in.Writers {
		if _, ok := sources[w.From]; !ok {
			return fmt.Errorf("writers: %s: from: %q: must be records, results or pages", w.Name, w.From)
		}
		if err := messages.CheckCrawl(w.Name); err != nil { // the alphabet is the same
			return fmt.Errorf("writers: name %q: must be of a-z, 0-9, - and _", w.Name)
		}
	}
	for _, f := range in.Feeders {
		if err := messages.CheckCrawl(f.Name); err != nil {
			return fmt.Errorf("feeders: name %q: must be of a-z, 0-9, - and _", f.Name)
		}
		if len(f.Crawls) == 0 {
			return fmt.Errorf("feeders: %s: crawls: name at least one, or '*' for all", f.Name)
		}
		for _, crawl := range f.Crawls {
			if err := messages.CheckCrawl(crawl); err != nil && crawl != "*" {
				return fmt.Errorf("feeders: %s: %w", f.Name, err)
			}
		}
	}
	for _, r := range in.All() {
		if seen[r.Name] {
			return fmt.Errorf("two users would be called %s: give one another name", r.Name)
		}
		seen[r.Name] = true
	}
	return nil
}

// crawl is all that a whole crawl in one process does.
func (in *Installation) crawl(stages []Role) Role {
	r := Role{Name: Crawl, About: "`seine crawl --nats`: all stages in one process"}
	for _, o := range stages {
		r.Publish = append(r.Publish, o.Publish...)
		r.Subscribe = append(r.Subscribe, o.Subscribe...)
	}
	end := Permissions{Why: "read committed output and dead letters", Subjects: []string{"$JS.API.DIRECT.GET." + messages.StreamDead + "." + partitioned("dead")}}
	for _, w := range in.Writers {
		end.Subjects = append(end.Subjects, "$JS.API.DIRECT.GET."+sources[w.From]+"."+partitioned(w.From))
	}
	end.Subjects = append(end.Subjects, leaderOf(messages.StreamRecords, messages.StreamPages, messages.StreamDead)...)
	r.Publish = append(r.Publish, Permissions{Why: "seeds", Subjects: []string{messages.SubjectSeeds("*")}}, questions(), ended(), end)
	return r
}

func admin() Role {
	return Role{
		Name: Admin, About: "an operator who repairs by hand with the `nats` command; keep its key offline",
		Publish:   []Permissions{{Why: "everything in this account", Subjects: []string{">"}}},
		Subscribe: []Permissions{{Why: "everything in this account", Subjects: []string{">"}}},
	}
}
