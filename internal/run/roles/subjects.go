package roles

import (
	"strings"

	"seine/internal/ops/procstats"
	"seine/pkg/messages"
)

// Subjects of the JetStream API, as used by nats-server 2.14 and 2.15 and by nats.go.

func info(streams ...string) Permissions {
	g := Permissions{Why: "get info of " + strings.Join(streams, ", ")}
	for _, s := range streams {
		g.Subjects = append(g.Subjects, "$JS.API.STREAM.INFO."+s)
	}
	return g
}

func kv(bucket string) string { return "KV_" + bucket }

func obj(bucket string) string { return "OBJ_" + bucket }

// consume permits a user to create a durable consumer and to read from it.
func consume(stream, durable, filter string) []string {
	at := stream + "." + durable
	return []string{
		"$JS.API.CONSUMER.CREATE." + at + "." + filter,
		"$JS.API.CONSUMER.MSG.NEXT." + at,
		"$JS.ACK." + at + ".>",
	}
}

// share permits a user to read from a consumer that several users share.
func share(stream, durable, filter string) []string {
	return append(consume(stream, durable, filter), "$JS.API.CONSUMER.INFO."+stream+"."+durable)
}

// askHolders permits a user to ask the other users of a consumer for their in-flight messages.
func askHolders(durable string) Permissions {
	return Permissions{Why: "ask other processes for their in-flight messages", Subjects: []string{messages.SubjectInFlight(durable)}, Way: Within}
}

// holder permits a user to report its in-flight messages.
func holder(durable string) Permissions {
	return Permissions{Why: "report its in-flight messages", Subjects: []string{messages.SubjectInFlight(durable)}, Way: Within}
}

// feed permits a user to read a partition of a stream in order, from its stored position.
func feed(stream, name, kind string, p int) []string {
	c := messages.PartitionConsumer(name, kind, p)
	at := stream + "." + c.Durable
	return append(consume(stream, c.Durable, c.FilterSubject), "$JS.API.CONSUMER.INFO."+at, "$JS.API.CONSUMER.RESET."+at)
}

// watch permits a user to watch keys of a bucket, with a consumer that has a random name.
func watch(bucket, keys string) []string {
	s := kv(bucket)
	create := "$JS.API.CONSUMER.CREATE." + s + ".*"
	if keys != "" {
		create += ".$KV." + bucket + "." + keys
	}
	return []string{create, "$JS.API.CONSUMER.DELETE." + s + ".*", "$JS.FC." + s + ".>"}
}

// get permits a user to read keys of a bucket.
func get(bucket, keys string) string {
	return "$JS.API.DIRECT.GET." + kv(bucket) + ".$KV." + bucket + "." + keys
}

// put permits a user to write and delete keys of a bucket.
func put(bucket, keys string) string { return "$KV." + bucket + "." + keys }

// join permits a user to read the layout and to check that all streams exist.
func join() []Permissions {
	g := info(kv(messages.BucketMeta), obj(messages.BucketBodies), kv(messages.BucketRestore))
	g.Why = "read the layout, check for an unfinished restore"
	g.Subjects = append(g.Subjects, leaderOf(kv(messages.BucketMeta))...)
	return []Permissions{g}
}

// readSpecs permits a user to read the specs of crawls.
func readSpecs() Permissions {
	g := info(kv(messages.BucketCrawls))
	g.Why = "read specs"
	g.Subjects = append(g.Subjects, leaderOf(kv(messages.BucketCrawls))...)
	return g
}

// specs permits a user to read and watch the specs of crawls.
func specs() Permissions {
	g := readSpecs()
	g.Subjects = append(g.Subjects, watch(messages.BucketCrawls, ">")...)
	return g
}

// spec permits a user to set the spec of a crawl.
func spec(crawl string) Permissions {
	return Permissions{Why: "set specs", Subjects: []string{get(messages.BucketCrawls, crawl), put(messages.BucketCrawls, crawl)}}
}

// dead permits a stage to publish dead letters.
func dead(stage string) Permissions {
	return Permissions{Why: "publish dead letters", Subjects: []string{messages.SubjectDead(stage, "*")}}
}

// announced permits a stage to answer discovery requests.
func announced(names ...string) Permissions {
	g := Permissions{Why: "answer discovery requests (`seine status`, `nats micro ls`)", Way: Answers}
	for _, verb := range []string{"PING", "INFO", "STATS"} {
		g.Subjects = append(g.Subjects, "$SRV."+verb)
		for _, n := range names {
			g.Subjects = append(g.Subjects, "$SRV."+verb+"."+n, "$SRV."+verb+"."+n+".*")
		}
	}
	return g
}

// readBodies permits a user to read large bodies.
func readBodies() Permissions {
	s := obj(messages.BucketBodies)
	return Permissions{Why: "read large bodies", Subjects: []string{"$JS.API.DIRECT.GET." + s, "$JS.API.STREAM.MSG.GET." + s}}
}

// lease permits a user to own partitions of a group.
func lease(group string) Permissions {
	b := messages.BucketLeases
	return Permissions{Why: "own partitions", Subjects: append(watch(b, ""),
		"$JS.API.STREAM.INFO."+kv(b),
		get(b, "lease."+group+".*"), put(b, "lease."+group+".*"), put(b, "member."+group+".*"),
	)}
}

// identity permits an owner of partitions to detect another process with the same identity.
func identity(groups ...string) Permissions {
	g := Permissions{Why: "detect another process with the same identity", Way: Within}
	for _, group := range groups {
		g.Subjects = append(g.Subjects, messages.SubjectOwner(group, "*"))
	}
	return g
}

// works permits a user to run operations on a cluster and to exclude conflicting ones.
func works() Permissions {
	b := messages.BucketLeases
	return Permissions{Why: "exclude concurrent backups (`seine replay`)", Subjects: append(leaderOf(kv(b)),
		"$JS.API.STREAM.INFO."+kv(b), put(b, "work.>"),
	)}
}

// scan permits a user to read streams with consumers that have random names. Permissions cannot
// distinguish names, so it also permits removing the consumers of stages. It is for operators, not
// for viewers.
func scan(why string, streams ...string) Permissions {
	g := Permissions{Why: why}
	for _, s := range streams {
		g.Subjects = append(g.Subjects,
			"$JS.API.CONSUMER.CREATE."+s+".*", "$JS.API.CONSUMER.CREATE."+s+".*.>", "$JS.API.CONSUMER.INFO."+s+".*",
			"$JS.API.CONSUMER.DELETE."+s+".*", "$JS.API.CONSUMER.MSG.NEXT."+s+".*", "$JS.API.CONSUMER.RESET."+s+".*",
			"$JS.API.STREAM.MSG.GET."+s)
	}
	return g
}

// leaderOf permits a user to read streams at their leader. Decisions must not depend on a replica
// that lags.
func leaderOf(streams ...string) (subjects []string) {
	for _, s := range streams {
		subjects = append(subjects, "$JS.API.STREAM.MSG.GET."+s)
	}
	return subjects
}

// vital permits a process to report its memory and disks, and to receive drain requests.
func vital() Permissions {
	return Permissions{Why: "report memory and disks, receive drain requests", Subjects: []string{procstats.Subject, procstats.SubjectDrain("*")}, Way: Answers}
}

// asked permits requests to the frontier about a partition.
func asked(questions ...string) Permissions {
	g := Permissions{Why: "query the frontier"}
	for _, q := range questions {
		g.Subjects = append(g.Subjects, "seine.frontier."+q+".*")
	}
	return g
}

// questions permits requests for the state of crawls.
func questions() Permissions {
	return asked("status", "hosts", "host", "survey", "failed", "urls", "explain")
}

// each calls of for every partition, and concatenates the results.
func (in *Installation) each(of func(p int) []string) (all []string) {
	for p := range in.Partitions {
		all = append(all, of(p)...)
	}
	return all
}

// partitioned returns the subject of a kind for all crawls and partitions.
func partitioned(kind string) string { return "seine." + kind + ".*.*" }
