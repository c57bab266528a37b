package roles

import (
	"slices"
	"strings"

	"seine/internal/ops/procstats"
	"seine/pkg/messages"
)

// pipeline lists the streams that users inspect.
var pipeline = []string{
	messages.StreamSeeds, messages.StreamURLs, messages.StreamFetch, messages.StreamPages,
	messages.StreamResults, messages.StreamRecords, messages.StreamDead,
}

// readOnlyPerms returns the permissions for `seine status`, `top`, `explain` and `hosts`.
func readOnlyPerms() []Permissions {
	streams := info(pipeline...)
	for _, s := range pipeline {
		streams.Subjects = append(streams.Subjects, "$JS.API.CONSUMER.LIST."+s, "$JS.API.STREAM.MSG.GET."+s)
	}
	streams.Why = "read stream sizes, consumer positions and the age of waiting messages"
	return append(join(), streams, questions(), ended(), readSpecs(),
		Permissions{Why: "list running processes", Subjects: []string{"$SRV.INFO"}},
		Permissions{Why: "read alerts and robots.txt", Subjects: []string{
			"$JS.API.STREAM.MSG.GET." + kv(messages.BucketMeta), "$JS.API.STREAM.MSG.GET." + kv(messages.BucketRobots),
		}},
	)
}

// ended permits a user to check whether a crawl has ended: no message of it is in flight.
func ended() Permissions {
	return Permissions{Why: "check whether a crawl has ended", Subjects: append(
		leaderOf(messages.StreamSeeds, messages.StreamURLs, messages.StreamResults),
		"$JS.API.CONSUMER.INFO."+messages.StreamSeeds+"."+messages.ConsumerSeeds,
	)}
}

func (in *Installation) viewer() Role {
	return Role{
		Name: Viewer, Apart: true, About: "read-only access for people, including stored data: `seine status`, `top`, `hosts`, `spec get`, `explain --brief`",
		Publish: readOnlyPerms(),
	}
}

func (in *Installation) operator() Role {
	b := messages.BucketLeases
	all := Permissions{Why: "check that all streams exist and have a leader (`seine doctor`)", Subjects: append(leaderOf(kv(b)), "$JS.API.INFO", procstats.Subject)}
	for _, s := range messages.StreamNames() {
		if !slices.Contains(pipeline, s) {
			all.Subjects = append(all.Subjects, "$JS.API.STREAM.INFO."+s)
		}
	}
	redrive := Permissions{Why: "return dead letters to their stage, reading the originals from their streams"}
	for _, kind := range []string{messages.KindOfLinks, messages.KindOfRedirects, messages.KindOfSeeded, "fetch", "render", messages.KindOfPages, messages.KindOfChained, "answers", "results", "records"} {
		redrive.Subjects = append(redrive.Subjects, partitioned(kind))
	}
	for _, s := range []string{messages.StreamSeeds, messages.StreamURLs, messages.StreamFetch, messages.StreamPages, messages.StreamResults, messages.StreamRecords} {
		redrive.Subjects = append(redrive.Subjects, "$JS.API.DIRECT.GET."+s, "$JS.API.DIRECT.GET."+s+".>")
	}
	return Role{
		Name: Operator, About: "people who control crawls: everything the viewer may do, `explain`, `seed`, `pause`, `resume`, `cancel`, `delete`, `spec apply`, `dead`, `replay`, `doctor`",
		Publish: append(readOnlyPerms(),
			Permissions{Why: "publish seeds", Subjects: []string{messages.SubjectSeeds("*")}},
			spec("*"), specs(),
			Permissions{Why: "pause, resume, cancel and delete crawls", Subjects: []string{messages.SubjectControl}},
			Permissions{Why: "drain processes (`seine serve`)", Subjects: []string{procstats.SubjectDrain("*")}},
			Permissions{Why: "read and remove dead letters", Subjects: []string{
				"$JS.API.CONSUMER.CREATE." + messages.StreamDead + ".*.seine.dead.>",
				"$JS.API.CONSUMER.INFO." + messages.StreamDead + ".*", "$JS.API.CONSUMER.DELETE." + messages.StreamDead + ".*",
				"$JS.API.CONSUMER.MSG.NEXT." + messages.StreamDead + ".*",
				"$JS.API.DIRECT.GET." + messages.StreamDead, "$JS.API.STREAM.MSG.DELETE." + messages.StreamDead, "$JS.API.STREAM.PURGE." + messages.StreamDead,
			}},
			redrive,
			scan("read stored messages (`seine explain`, `replay`)", pipeline[:len(pipeline)-1]...),
			Permissions{Why: "find the original of a duplicate page", Subjects: []string{get(messages.BucketDuplicates, ">")}},
			readBodies(),
			works(),
			all,
		),
	}
}

// monitor can read counts but no content.
func monitor() Role {
	return Role{
		Name: Monitor, Apart: true, About: "monitoring: `nats stream report`, `nats consumer report`, `nats micro stats`; reads counts, not messages",
		Publish: []Permissions{
			{Why: "count streams and consumers", Subjects: []string{
				"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.STREAM.INFO.*",
				"$JS.API.CONSUMER.NAMES.*", "$JS.API.CONSUMER.LIST.*", "$JS.API.CONSUMER.INFO.*.*",
			}},
			{Why: "count processes and requests", Subjects: []string{"$SRV.PING", "$SRV.PING.*", "$SRV.INFO", "$SRV.INFO.*", "$SRV.STATS", "$SRV.STATS.*"}},
		},
	}
}

func feeder(f SeedPublisher) Role {
	r := Role{Name: f.Name, Apart: true, About: "a program that adds seeds: " + strings.Join(f.Crawls, ", "), Publish: join()}
	for _, crawl := range f.Crawls {
		r.Publish = append(r.Publish, Permissions{Why: "publish seeds of " + crawl, Subjects: []string{messages.SubjectSeeds(crawl)}})
		if f.Spec {
			s := readSpecs()
			s.Why = "read specs, set the spec of " + crawl
			s.Subjects = append(s.Subjects, put(messages.BucketCrawls, crawl))
			r.Publish = append(r.Publish, s)
		}
	}
	return r
}
