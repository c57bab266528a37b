package roles

import (
	"seine/internal/ops/procstats"
	"seine/internal/streams/retention"
	"seine/pkg/messages"
)

// frontier owns the streams, so it has an owner's permissions.
func (in *Installation) frontier() Role {
	kept := []string{messages.StreamSeeds, messages.StreamURLs, messages.StreamResults, messages.StreamPages, messages.StreamRecords}
	own := Permissions{Why: "create the streams and buckets, set their limits", Subjects: []string{"$JS.API.INFO"}}
	for _, s := range messages.StreamNames() {
		own.Subjects = append(own.Subjects, "$JS.API.STREAM.CREATE."+s, "$JS.API.STREAM.UPDATE."+s, "$JS.API.STREAM.INFO."+s)
	}
	janitor := Permissions{Why: "purge consumed messages when a stream exceeds its budget"}
	for _, s := range kept {
		janitor.Subjects = append(janitor.Subjects,
			"$JS.API.STREAM.PURGE."+s, "$JS.API.STREAM.MSG.GET."+s, "$JS.API.CONSUMER.LIST."+s)
	}
	strays := Permissions{Why: "move messages that no consumer reads to DEAD"}
	for _, s := range retention.StrayStreams {
		strays.Subjects = append(strays.Subjects, "$JS.API.STREAM.MSG.DELETE."+s)
	}
	parsed := Permissions{Why: "find visits whose pages are lost", Subjects: []string{"$JS.API.CONSUMER.INFO." + messages.StreamPages + "." + messages.ConsumerParse}}
	return Role{
		Name: messages.StageFrontier, About: "the stage `frontier`",
		Publish: append([]Permissions{
			own, janitor, strays, parsed, sweep(), in.readByFrontier(), askHolders(messages.ConsumerSeeds), askHolders(messages.ConsumerParse),
			{Why: "publish fetch and render requests, and candidates from seeds", Subjects: []string{partitioned("fetch"), partitioned("render"), partitioned(messages.KindOfSeeded)}},
			dead(messages.StageFrontier),
			specs(), spec("*"), deletions(),
			lease(messages.StageFrontier), identity(messages.StageFrontier, "alerts"),
			{Why: "check for a running backup", Subjects: leaderOf(kv(messages.BucketLeases))},
			{Why: "coordinate layout, budgets and snapshots", Subjects: []string{
				get(messages.BucketMeta, ">"), put(messages.BucketMeta, ">"), "$JS.API.STREAM.MSG.GET." + kv(messages.BucketMeta),
			}},
			snapshots(),
			watchdog(),
		}, readOnlyPerms()...),
		Subscribe: []Permissions{
			announced("seine-frontier", "seine-frontier-questions"),
			vital(), holder(messages.ConsumerSeeds), identity(messages.StageFrontier, "alerts"),
			{Why: "create the consumers of the other stages", Subjects: []string{messages.SubjectConsumers("*")}},
			{Why: "answer requests", Subjects: []string{
				"seine.frontier.status.*", "seine.frontier.hosts.*", "seine.frontier.host.*",
				"seine.frontier.survey.*", "seine.frontier.failed.*", "seine.frontier.urls.*", "seine.frontier.explain.*",
				"seine.frontier." + messages.OpClaim + ".*", messages.SubjectControl,
			}},
		},
	}
}

// deletions permits a frontier to delete crawls.
func deletions() Permissions {
	g := Permissions{Why: "delete crawls", Subjects: []string{
		get(messages.BucketCrawls, messages.KeyDeletion("*")), put(messages.BucketCrawls, messages.KeyDeletion("*")), "$JS.API.STREAM.PURGE." + messages.StreamDead, "$JS.API.STREAM.MSG.GET." + messages.StreamDead,
	}}
	for _, b := range []string{messages.BucketCrawls, messages.BucketMeta, messages.BucketDuplicates} {
		g.Subjects = append(g.Subjects, "$JS.API.STREAM.PURGE."+kv(b))
	}
	return g
}

// readByFrontier permits a frontier to read its inputs and FETCH.
func (in *Installation) readByFrontier() Permissions {
	read := append(share(messages.StreamSeeds, messages.ConsumerSeeds, messages.SubjectSeeds("*")), "$JS.API.CONSUMER.RESET."+messages.StreamSeeds+"."+messages.ConsumerSeeds)
	read = append(read, in.each(func(p int) []string {
		return append(feed(messages.StreamURLs, messages.ConsumerURLs, messages.AnyKind, p),
			feed(messages.StreamResults, messages.ConsumerResults, "results", p)...)
	})...)
	for _, s := range []string{messages.StreamURLs, messages.StreamResults, messages.StreamFetch} {
		read = append(read, "$JS.API.DIRECT.GET."+s, "$JS.API.DIRECT.GET."+s+"."+partitioned(messages.AnyKind))
	}
	read = append(read, leaderOf(messages.StreamSeeds, messages.StreamURLs, messages.StreamResults, messages.StreamFetch)...)
	return Permissions{Why: "read seeds, candidates, results and queued requests", Subjects: read}
}

// watchdog permits a frontier to check the crawls for faults; one frontier at a time does.
func watchdog() Permissions {
	g := lease("alerts")
	g.Why = "check alert conditions"
	g.Subjects = append(g.Subjects, procstats.Subject, "$SRV.INFO")
	return g
}

// sweep permits the janitor to remove large bodies that were read.
func sweep() Permissions {
	s, o := obj(messages.BucketBodies), "$O."+messages.BucketBodies+".M.*"
	return Permissions{Why: "remove consumed large bodies", Subjects: []string{
		"$JS.API.CONSUMER.CREATE." + s + ".*.$O." + messages.BucketBodies + ".M.>",
		"$JS.API.CONSUMER.DELETE." + s + ".*", "$JS.FC." + s + ".>",
		"$JS.API.DIRECT.GET." + s + "." + o, o, "$JS.API.STREAM.PURGE." + s,
	}}
}

// snapshots permits a frontier to save and load the state of its partitions.
func snapshots() Permissions {
	s, o := obj(messages.BucketSnapshots), "$O."+messages.BucketSnapshots+"."
	return Permissions{Why: "save and read snapshots", Subjects: []string{
		o + "C.*", o + "M.*", "$JS.API.STREAM.PURGE." + s,
		"$JS.API.DIRECT.GET." + s, "$JS.API.DIRECT.GET." + s + ".>", "$JS.API.STREAM.MSG.GET." + s,
	}}
}

func (in *Installation) fetcher() Role {
	return fetching(messages.StageFetcher, messages.ConsumerFetch, "fetch")
}

// renderer has the permissions of a fetcher, for requests that may need a browser.
func (in *Installation) renderer() Role {
	return fetching(messages.StageRenderer, messages.ConsumerRender, "render")
}

// fetching permits a stage to take requests of one kind from FETCH and to publish the results.
func fetching(stage, durable, kind string) Role {
	b := messages.BucketBodies
	return Role{
		Name: stage, About: "the stage `" + stage + "`", Apart: true,
		Publish: append(join(),
			Permissions{Why: "consume requests", Subjects: append(share(messages.StreamFetch, durable, partitioned(kind)), "$JS.API.STREAM.INFO."+messages.StreamFetch)},
			askHolders(durable),
			Permissions{Why: "publish pages, other responses, results, sitemaps and redirect targets", Subjects: []string{
				partitioned(messages.KindOfPages), partitioned(messages.KindOfChained), partitioned("answers"), partitioned("results"),
				partitioned(messages.KindOfLinks), partitioned(messages.KindOfRedirects),
			}},
			Permissions{Why: "publish records of deleted pages", Subjects: []string{partitioned("records")}},
			dead(stage),
			specs(),
			Permissions{Why: "share robots.txt", Subjects: []string{
				"$JS.API.STREAM.INFO." + kv(messages.BucketRobots), get(messages.BucketRobots, ">"), put(messages.BucketRobots, ">"),
			}},
			Permissions{Why: "store large bodies, remove incomplete ones", Subjects: []string{
				"$O." + b + ".C.*", "$O." + b + ".M.*", "$JS.API.DIRECT.GET." + obj(b) + ".$O." + b + ".M.*", "$JS.API.STREAM.PURGE." + obj(b),
			}},
			asked(messages.OpClaim),
		),
		Subscribe: []Permissions{announced("seine-" + stage), vital(), holder(durable), {Why: "receive notices of possible redeliveries", Subjects: []string{
			"$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED." + messages.StreamFetch + "." + durable,
		}, Way: Receives}},
	}
}

func (in *Installation) parser() Role {
	return Role{
		Name: messages.StageParser, About: "the stage `parser`", Apart: true,
		Publish: append(join(),
			Permissions{Why: "consume pages", Subjects: share(messages.StreamPages, messages.ConsumerParse, partitioned("pages"))},
			Permissions{Why: "continue at the position of a deleted consumer", Subjects: []string{
				"$JS.API.STREAM.INFO." + messages.StreamPages, "$JS.API.CONSUMER.RESET." + messages.StreamPages + "." + messages.ConsumerParse,
				put(messages.BucketMeta, messages.KeyPosition(messages.StreamPages, messages.ConsumerParse)),
			}},
			askHolders(messages.ConsumerParse),
			Permissions{Why: "publish records, links and ends of visits", Subjects: []string{partitioned("records"), partitioned(messages.KindOfLinks)}},
			dead(messages.StageParser),
			specs(),
			readBodies(),
			Permissions{Why: "detect duplicates", Subjects: []string{
				"$JS.API.STREAM.INFO." + kv(messages.BucketDuplicates),
				get(messages.BucketDuplicates, ">"), put(messages.BucketDuplicates, ">"),
			}},
		),
		Subscribe: []Permissions{announced("seine-parser"), vital(), holder(messages.ConsumerParse)},
	}
}

// sources maps the input of a writer to its stream.
var sources = map[string]string{
	"records": messages.StreamRecords, "results": messages.StreamResults, "pages": messages.StreamPages,
}

func (in *Installation) writer(w Writer) Role {
	stream, name := sources[w.From], messages.ConsumerWriter+"-"+w.Name
	kind := w.From
	if w.From == "pages" {
		kind = messages.AnyKind // archives also contain responses that are not pages
	}
	read := in.each(func(p int) []string { return feed(stream, name, kind, p) })
	r := Role{
		Name: writerUser(w.Name), Apart: true, About: "the stage `writer` named " + w.Name + ", which reads " + stream,
		Publish: append(join(),
			info(stream),
			Permissions{Why: "read " + stream, Subjects: append(read, "$JS.API.DIRECT.GET."+stream, "$JS.API.STREAM.MSG.GET."+stream)},
			dead(messages.StageWriter),
			specs(),
			lease(name), identity(name),
			Permissions{Why: "bind its name to a destination", Subjects: []string{
				get(messages.BucketMeta, messages.KeyWriter(w.Name)), put(messages.BucketMeta, messages.KeyWriter(w.Name)),
			}},
			Permissions{Why: "start a new era after a stream lost messages that are in the output", Subjects: []string{
				get(messages.BucketMeta, messages.KeyEra), put(messages.BucketMeta, messages.KeyEra),
			}},
		),
		Subscribe: []Permissions{announced("seine-writer"), vital(), identity(name)},
	}
	if w.From == "pages" {
		r.Publish = append(r.Publish, readBodies())
	}
	return r
}
