// Package roles defines the permissions of each user of a locked-down NATS server: one user for
// each stage, and users for people and other programs. The server's configuration and the table in
// deploy/nats/roles.md are generated from it.
package roles

import (
	"fmt"

	"seine/pkg/messages"
)

// Permissions are subjects that a user may publish or subscribe to, with the reason.
type Permissions struct {
	Why      string
	Subjects []string
	// Way is how a user with its own account reaches the subjects.
	Way Way
}

// Way is how subjects cross the border of an account.
type Way int

// Ways.
const (
	Through  Way = iota // published to the account of the streams, which replies
	Within              // only among users of the same role
	Answers             // subscribed: replies to requests from the account of the streams
	Receives            // subscribed: receives messages of the account of the streams
)

// Role is the permissions of a user. In addition, it may publish replies to requests and subscribe
// to its own inboxes.
type Role struct {
	Name  string // of the user
	About string
	// Apart selects a separate account. It reaches the subjects of Publish in the account of the
	// streams, and replies are delivered within its own account, whatever reply subject it names.
	// In the account of the streams, a server would publish them there, regardless of permissions.
	Apart bool
	// Publish and Subscribe list everything that is permitted.
	Publish, Subscribe []Permissions
}

// Installation is the set of users of a NATS server.
type Installation struct {
	Partitions int
	Chain      bool // fetchers also parse: fetcher --chain
	Writers    []Writer
	Feeders    []SeedPublisher
}

// Writer is a named writer, which reads one stream.
type Writer struct {
	Name string `yaml:"name"` // --name
	From string `yaml:"from"` // --from: records, results or pages
}

// SeedPublisher is a user who may add seeds, such as another program.
type SeedPublisher struct {
	Name   string   `yaml:"name"`
	Crawls []string `yaml:"crawls"`
	Spec   bool     `yaml:"spec"` // may also set the spec of these crawls
}

// Inboxes returns the inbox prefix of a user. No other user can read these subjects.
func Inboxes(user string) string { return "_INBOX_" + user }

// Users of every installation, in addition to stages and feeders.
const (
	Operator = "operator"
	Viewer   = "viewer"
	Monitor  = "monitor"
	Crawl    = "crawl"
	Admin    = "admin"
)

// All returns the roles in the order of the documentation.
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
			inboxes.Way = Receives // messages of push consumers are not replies
		}
		all[i].Subscribe = append(all[i].Subscribe, inboxes)
	}
	return all
}

// writerUser returns the user of a writer.
func writerUser(name string) string {
	if name == "default" {
		return messages.StageWriter
	}
	return messages.StageWriter + "-" + name
}

// Check returns an error if an installation is invalid.
func (in *Installation) Check() error {
	if in.Partitions < 1 || in.Partitions > messages.MaxPartitions {
		return fmt.Errorf("partitions: %d: must be from 1 to %d", in.Partitions, messages.MaxPartitions)
	}
	seen := make(map[string]bool)
	for _, w := range in.Writers {
		if _, ok := sources[w.From]; !ok {
			return fmt.Errorf("writers: %s: from: %q: must be records, results or pages", w.Name, w.From)
		}
		if err := messages.CheckCrawl(w.Name); err != nil { // names share an alphabet
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
			return fmt.Errorf("duplicate user name %s: rename one of the users", r.Name)
		}
		seen[r.Name] = true
	}
	return nil
}

// crawl returns the role of a whole crawl in one process.
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
	r.Publish = append(r.Publish, Permissions{Why: "publish seeds", Subjects: []string{messages.SubjectSeeds("*")}}, questions(), ended(), end)
	return r
}

func admin() Role {
	return Role{
		Name: Admin, About: "an operator who repairs by hand with the `nats` command; keep its key offline",
		Publish:   []Permissions{{Why: "everything in this account", Subjects: []string{">"}}},
		Subscribe: []Permissions{{Why: "everything in this account", Subjects: []string{">"}}},
	}
}
