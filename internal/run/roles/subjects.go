package roles

import (
	"strings"

	"seine/internal/ops/procstats"
	"seine/pkg/messages"
)

// Subjects of JetStream's API, as nats-server 2.14 and 2.15 and nats.go use them.

func info(streams ...string) Permissions {
	g := Permissions{Why: "look at " + strings.Join(streams, ", ")}
	for _, s := range streams {
		g.Subjects = append(g.Subjects, "$JS.API.STREAM.INFO."+s)
	}
	return g
}

func kv(bucket string) string { return "KV_" + bucket }

func obj(bucket string) string { return "OBJ_" + bucket }

// consume lets a user read a stream by a durable consumer, which it makes itself.
func consume(stream, durable, filter string) []string {
	at := stream + "." + durable
	return []string{
		"$JS.API.CONSUMER.CREATE." + at + "." + filter,
		"$JS.API.CONSUMER.MSG.NEXT." + at,
		"$JS.ACK." + at + ".>",
	}
}

// share lets a user take messages of a consumer that others take from, too.
func share(stream, durable, filter string) []string {
	return append(consume(stream, durable, filter), "$JS.API.CONSUMER.INFO."+stream+"."+durable)
}

// askHolders lets a user agree with other users of the same consumer on the holder of each message.
func askHolders(durable string) Permissions {
	return Permissions{Why: "ask the others what they hold", Subjects: []string{messages.SubjectInFlight(durable)}, Way: Within}
}

// holder lets a user tell the others what it holds.
func holder(durable string) Permissions {
	return Permissions{Why: "report its in-flight messages", Subjects: []string{messages.SubjectInFlight(durable)}, Way: Within}
}

// feed lets a user read a partition of a stream in order, from where its own state
// ends.
func feed(stream, name, kind string, p int) []string {
	c := messages.PartitionConsumer(name, kind, p)
	at := stream + "." + c.Durable
	return append(consume(stream, c.Durable, c.FilterSubject), "$JS.API.CONSUMER.INFO."+at, "$JS.API.CONSUMER.RESET."+at)
}

// watch lets a user follow keys of a bucket: by a consumer with a name of chance.
func watch(bucket, keys string) []string {
	s := kv(bucket)
	create := "$JS.API.CONSUMER.CREATE." + s + ".*"
	if keys != "" {
		create += ".$KV." + bucket + "." + keys
	}
	return []string{create, "$JS.API.CONSUMER.DELETE." + s + ".*", "$JS.FC." + s + ".>"}
}

// get lets a user read keys of a bucket.
func get(bucket, keys string) string {
	return "$JS.API.DIRECT.GET." + kv(bucket) + ".$KV." + bucket + "." + keys
}

// put lets a user write and remove keys of a bucket.
func put(bucket, keys string) string { return "$KV." + bucket + "." + keys }

// join is what everyone needs to learn the layout, and that all streams are there.
func join() []Permissions {
	g := info(kv(messages.BucketMeta), obj(messages.BucketBodies), kv(messages.BucketRestore))
	g.Why = "learn the layout, see whether a restore is unfinished"
	g.Subjects = append(g.Subjects, leaderOf(kv(messages.BucketMeta))...)
	return []Permissions{g}
}

// readSpecs lets a user read the specs of crawls.
func readSpecs() Permissions {
	g := info(kv(messages.BucketCrawls))
	g.Why = "read specs"
	g.Subjects = append(g.Subjects, leaderOf(kv(messages.BucketCrawls))...)
	return g
}

// specs lets a user read the specs of crawls, and follow them.
func specs() Permissions {
	g := readSpecs()
	g.Subjects = append(g.Subjects, watch(messages.BucketCrawls, ">")...)
	return g
}

// spec lets a user give crawls their spec.
func spec(crawl string) Permissions {
	return Permissions{Why: "give specs", Subjects: []string{get(messages.BucketCrawls, crawl), put(messages.BucketCrawls, crawl)}}
}

// dead lets a stage publish dead letters.
func dead(stage string) Permissions {
	return Permissions{Why: "dead letters", Subjects: []string{messages.SubjectDead(stage, "*")}}
}

// announced lets a stage answer the query which processes run.
func announced(names ...string) Permissions {
	g := Permissions{Why: "be found (`seine status`, `nats micro ls`)", Way: Answers}
	for _, verb := range []string{"PING", "INFO", "STATS"} {
		g.Subjects = append(g.Subjects, "$SRV."+verb)
		for _, n := range names {
			g.Subjects = append(g.Subjects, "$SRV."+verb+"."+n, "$SRV."+verb+"."+n+".*")
		}
	}
	return g
}

// readBodies lets a user read large bodies.
func readBodies() Permissions {
	s := obj(messages.BucketBodies)
	return Permissions{Why: "read large bodies", Subjects: []string{"$JS.API.DIRECT.GET." + s, "$JS.API.STREAM.MSG.GET." + s}}
}

// lease lets a user own partitions of a group.
func lease(group string) Permissions {
	b := messages.BucketLeases
	return Permissions{Why: "own partitions", Subjects: append(watch(b, ""),
		"$JS.API.STREAM.INFO."+kv(b),
		get(b, "lease."+group+".*"), put(b, "lease."+group+".*"), put(b, "member."+group+".*"),
	)}
}

// identity lets a process that owns partitions of groups see whether another one has its identity.
func identity(groups ...string) Permissions {
	g := Permissions{Why: "see whether another process has the same identity", Way: Within}
	for _, group := range groups {
		g.Subjects = append(g.Subjects, messages.SubjectOwner(group, "*"))
	}
	return g
}

// works lets a user do long works on a cluster, and keep others away meanwhile.
func works() Permissions {
	b := messages.BucketLeases
	return Permissions{Why: "keep backups away (`seine replay`)", Subjects: append(leaderOf(kv(b)),
		"$JS.API.STREAM.INFO."+kv(b), put(b, "work.>"),
	)}
}

// scan lets a user read messages of streams, by consumers with random names. Names
// cannot be distinguished by permissions, so this is also the right to remove the
// consumer of a stage: for people who may steer, not for those who look.
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

// leaderOf lets a user inspect streams at their leader: what decides must not be
// read from a replica that is behind.
func leaderOf(streams ...string) (subjects []string) {
	for _, s := range streams {
		subjects = append(subjects, "$JS.API.STREAM.MSG.GET."+s)
	}
	return subjects
}

// vital lets a process report how much memory and disk it has, and be asked to drain.
func vital() Permissions {
	return Permissions{Why: "report memory and disks, receive drain requests", Subjects: []string{procstats.Subject, procstats.SubjectDrain("*")}, Way: Answers}
}

// asked are questions that a frontier answers about a partition.
func asked(questions ...string) Permissions {
	g := Permissions{Why: "ask the frontier"}
	for _, q := range questions {
		g.Subjects = append(g.Subjects, "seine.frontier."+q+".*")
	}
	return g
}

// questions are queries for the state of crawls.
func questions() Permissions {
	return asked("status", "hosts", "host", "survey", "failed", "urls", "explain")
}

// each calls for every partition, and joins what comes.
func (in *Installation) each(of func(p int) []string) (all []string) {
	for p := range in.Partitions {
		all = append(all, of(p)...)
	}
	return all
}

// partitioned is a subject of every crawl and partition.
func partitioned(kind string) string { return "seine." + kind + ".*.*" }
