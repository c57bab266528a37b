package messages

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/humanize"
	"seine/internal/base/lazyregexp"
)

// Buckets of the key-value and object stores.
const (
	BucketCrawls = "seine_crawls" // Spec by crawl, watched by every stage
	BucketRobots = "seine_robots" // robots.txt by origin
	BucketLeases = "seine_leases" // ownership of partitions
	// BucketRestore exists while a backup is being restored.
	BucketRestore = "seine_restore_unfinished"
	BucketMeta    = "seine_meta"   // Layout
	BucketBodies  = "seine_bodies" // bodies too large for a message
	// BucketDuplicates identifies pages with the same or nearly the same content, for crawls that
	// ask for it.
	BucketDuplicates = "seine_duplicates"

	BucketSnapshots = "seine_snapshots" // newest snapshot of each frontier partition
)

// Prefixes of the keys in BucketLeases for operations on the whole cluster while they are in
// progress. KeyWorks is followed by the kind and an ID. While a backup key exists, no stream is
// purged.
const (
	KeyWorks   = "work."
	KeyBackups = KeyWorks + "backup."
)

// KeyLayout is the key of the Layout in BucketMeta.
const KeyLayout = "layout"

// KeyProvisioned is the key in BucketMeta of the Provisioned of the streams.
const KeyProvisioned = "provisioned"

// Provisioned holds the parameters with which a frontier created the streams, for later
// comparisons.
type Provisioned struct {
	Limits   StreamLimits `json:"limits"`
	Replicas int          `json:"replicas"`
	// Bounded means that the account requires max_bytes for every stream.
	Bounded bool `json:"bounded,omitempty"`
}

// boundedBytes is the limit of a stream without another one, in an account that requires limits.
const boundedBytes = 256 << 20

// Streams returns the configuration of every stream.
func (p Provisioned) Streams() []jetstream.StreamConfig {
	all := AllStreams(p.Limits, p.Replicas)
	for i := range all {
		if p.Bounded && all[i].MaxBytes <= 0 {
			all[i].MaxBytes = boundedBytes
		}
	}
	return all
}

// Bytes returns the total limit of all streams.
func (p Provisioned) Bytes() (n int64) {
	for _, s := range p.Streams() {
		n += max(0, s.MaxBytes)
	}
	return n
}

// KeyPosition is the key in BucketMeta of the position of a consumer that several processes share,
// "" if none is needed: a work queue keeps only unacknowledged messages, and the owner of a
// partition knows its own position.
func KeyPosition(stream, durable string) string {
	if durable == ConsumerSeeds || durable == ConsumerParse {
		return "position." + stream + "." + durable
	}
	return ""
}

// KeyEra is the key in BucketMeta of the Eras of the cluster as JSON; without it the era is 0. An
// era begins with a restore, with the start of a frontier that did not close its store, and with
// the loss of messages that a stage has read: see EraAt.
const KeyEra = "era"

// Layout holds the values that all stages must agree on. It is fixed when the streams are created.
type Layout struct {
	V          int `json:"v"`          // Version of the wire
	Partitions int `json:"partitions"` // P
	Canonical  int `json:"canonical"`  // weburl.Version of the URLs in the streams
	// Installation names these streams and buckets, and their backups: see
	// internal/base/installation.
	Installation string `json:"installation,omitempty"`
}

// String describes the layout in words.
func (l Layout) String() string {
	return fmt.Sprintf("%s, version %d of the wire and %d of canonical URLs", humanize.Plural(l.Partitions, "partition"), l.V, l.Canonical)
}

// DedupWindow is how long JetStream remembers a Nats-Msg-Id. It covers a redelivery after a crash,
// and costs about 200 bytes of server memory for each message of that time.
const DedupWindow = 2 * time.Minute

// Timings of the consumers.
const (
	// AckWait is how long a worker may hold a message without a keep-alive before the message is
	// redelivered. Workers send a keep-alive every third of it, so it bounds only the wait after a
	// crash.
	AckWait = 15 * time.Second
	// MaxDeliver is how often a stateless stage tries a message that fails.
	MaxDeliver = 5
	// MaxCrashes is how often a message may be delivered without being finished before it counts as
	// killing its workers. It is not a small number, since restarts during the work count as well.
	MaxCrashes = 25
)

// StreamLimits are the limits of the streams in bytes and messages. A full stream refuses new
// messages, which slows down its publishers.
type StreamLimits struct {
	SeedsBytes    int64         `json:"seeds_bytes"`    // SEEDS
	URLsBytes     int64         `json:"urls_bytes"`     // URLS
	FetchMessages int64         `json:"fetch_messages"` // FETCH: requests that are sent and not done, over all hosts
	ResultsBytes  int64         `json:"results_bytes"`  // RESULTS
	PagesBytes    int64         `json:"pages_bytes"`    // PAGES
	RecordsBytes  int64         `json:"records_bytes"`  // RECORDS
	DeadBytes     int64         `json:"dead_bytes"`     // DEAD
	BodiesBytes   int64         `json:"bodies_bytes"`   // BucketBodies
	DeadAge       time.Duration `json:"dead_age"`
	// SnapshotsBytes is the limit of BucketSnapshots: the newest snapshots of all partitions and
	// one more must fit.
	SnapshotsBytes int64 `json:"snapshots_bytes"`
}

// DefaultStreamLimits are suitable for a laptop or a small server: at most 5.5 GiB of disk, without
// snapshots.
func DefaultStreamLimits() StreamLimits {
	const gib = 1 << 30
	return StreamLimits{
		SeedsBytes: gib / 4, URLsBytes: gib / 2, FetchMessages: 1024, ResultsBytes: gib / 4,
		PagesBytes: 2 * gib, RecordsBytes: gib, DeadBytes: gib / 4, BodiesBytes: gib,
		DeadAge: 30 * 24 * time.Hour,
	}
}

// Streams returns the configuration of every stream.
func Streams(l StreamLimits, replicas int) []jetstream.StreamConfig {
	log := func(name, subjects, about string, maxBytes int64) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: name, Subjects: strings.Fields(subjects), Description: about,
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: maxBytes,
			Storage: jetstream.FileStorage, Replicas: replicas, Duplicates: DedupWindow, AllowDirect: true, Metadata: owned(),
		}
	}
	fetch := log(StreamFetch, "seine.fetch.*.* seine.render.*.*", "requests that are due now", 0)
	fetch.Retention, fetch.MaxMsgs, fetch.MaxBytes = jetstream.WorkQueuePolicy, l.FetchMessages, -1
	dead := log(StreamDead, "seine.dead.*.*", "messages that could not be handled", l.DeadBytes)
	dead.Discard, dead.MaxAge = jetstream.DiscardOld, l.DeadAge
	return []jetstream.StreamConfig{
		log(StreamSeeds, "seine.seeds.*", "URLs fed by people and programs", l.SeedsBytes),
		log(StreamURLs, "seine.seeded.*.* seine.redirects.*.* seine.urls.*.*", "candidates, and the ends of visits", l.URLsBytes),
		fetch,
		log(StreamResults, "seine.results.*.*", "how requests ended", l.ResultsBytes),
		log(StreamPages, "seine.pages.*.* seine.chained.*.* seine.answers.*.*", "responses with their bodies", l.PagesBytes),
		log(StreamRecords, "seine.records.*.*", "extracted records", l.RecordsBytes),
		dead,
	}
}

// MetadataOwner is the metadata key that each stream, bucket and object store of Seine has. The
// value is Version. A stream without the key belongs to another application.
const MetadataOwner = "seine"

func owned() map[string]string { return map[string]string{MetadataOwner: strconv.Itoa(Version)} }

// StreamNames returns the names of all streams of Seine, including those of its buckets and object
// stores.
func StreamNames() (names []string) {
	for _, s := range AllStreams(StreamLimits{SnapshotsBytes: 1}, 1) {
		names = append(names, s.Name)
	}
	return names
}

// AllStreams returns the configuration of every stream, including those of the buckets and object
// stores as clients create them. It omits the snapshots if they have no limit. The buckets come
// first, the stream of BucketBodies last.
func AllStreams(l StreamLimits, replicas int) (all []jetstream.StreamConfig) {
	bucket := func(name, about string, maxBytes int64, subjects ...string) *jetstream.StreamConfig {
		all = append(all, jetstream.StreamConfig{
			Name: name, Description: about, Subjects: subjects, MaxBytes: cmp.Or(maxBytes, -1), Discard: jetstream.DiscardNew,
			Replicas: replicas, AllowRollup: true, AllowDirect: true, Duplicates: DedupWindow, Metadata: owned(),
		})
		return &all[len(all)-1]
	}
	keys := func(name, about string, history int64, ttl time.Duration, maxBytes int64) {
		s := bucket("KV_"+name, about, maxBytes, "$KV."+name+".>")
		s.DenyDelete, s.MaxMsgsPerSubject, s.MaxAge, s.Duplicates = true, history, ttl, min(cmp.Or(ttl, DedupWindow), DedupWindow)
	}
	objects := func(name, about string, maxBytes int64) {
		bucket("OBJ_"+name, about, maxBytes, "$O."+name+".C.>", "$O."+name+".M.>")
	}
	keys(BucketCrawls, "crawl specs", 16, 0, 0)
	keys(BucketRobots, "robots.txt by origin", 1, RobotsStale, 256<<20)
	keys(BucketLeases, "partition ownership", 1, LeaseTTL, 0)
	keys(BucketMeta, "what all stages agree on", 1, 0, 0)
	keys(BucketDuplicates, "which page has some content first", 1, 0, 0)
	all = append(all, Streams(l, replicas)...)
	if l.SnapshotsBytes > 0 {
		objects(BucketSnapshots, "snapshots of the frontier's partitions", l.SnapshotsBytes)
	}
	objects(BucketBodies, "bodies too large for a message", l.BodiesBytes)
	return all
}

const (
	// RobotsAge is how long a robots.txt is fresh (RFC 9309 2.4).
	RobotsAge = 24 * time.Hour
	// RobotsStale is how long an old robots.txt may be used while the host's cannot be fetched (RFC
	// 9309 2.3.1.4 and 2.4).
	RobotsStale = 30 * 24 * time.Hour
	// LeaseTTL is how long a lease outlives its owner's last renewal.
	LeaseTTL = 10 * time.Second
)

// WorkConsumer returns the consumer that all instances of a stateless stage share: each message
// goes to one of them, and to another after AckWait.
func WorkConsumer(durable, filter string, maxPending int) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: durable, FilterSubject: filter, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: AckWait, MaxAckPending: maxPending, MaxDeliver: -1, DeliverPolicy: jetstream.DeliverAllPolicy,
	}
}

// partitionReader is the durable name of a PartitionConsumer.
var partitionReader = lazyregexp.New(`^(` + ConsumerURLs + `|` + ConsumerResults + `|` + ConsumerWriter + `-.+)-(\d+)$`)

// kindsOfStreams are the second tokens of the subjects that PartitionConsumers read from each
// stream.
var kindsOfStreams = map[string]string{StreamURLs: AnyKind, StreamResults: "results", StreamPages: AnyKind, StreamRecords: "records"}

// NamedConsumer returns the configuration of a consumer of Seine with a durable name; ok is false
// if Seine has no such consumer.
func NamedConsumer(stream, durable string) (config jetstream.ConsumerConfig, ok bool) {
	switch {
	case stream == StreamSeeds && durable == ConsumerSeeds:
		return WorkConsumer(durable, "seine.seeds.*", 64), true
	case stream == StreamPages && durable == ConsumerParse:
		return WorkConsumer(durable, SubjectsToParse, 4096), true
	case stream == StreamFetch && durable == ConsumerFetch: // more pending than FETCH can hold
		return WorkConsumer(durable, "seine.fetch.*.*", 1<<16), true
	case stream == StreamFetch && durable == ConsumerRender:
		return WorkConsumer(durable, "seine.render.*.*", 1<<16), true
	}
	name, kind := partitionReader().FindStringSubmatch(durable), kindsOfStreams[stream]
	if name == nil || kind == "" {
		return config, false
	}
	p, _ := strconv.Atoi(name[2])
	return PartitionConsumer(name[1], kind, p), true
}

// ReaderOf returns the name of a durable consumer without its partition.
func ReaderOf(durable string) string {
	if i := strings.LastIndexByte(durable, '-'); i > 0 && strings.Trim(durable[i+1:], "0123456789") == "" {
		return durable[:i]
	}
	return durable
}

// PartitionConsumer returns the consumer through which the owner of partition p reads a stream in
// order. The owner acknowledges everything up to a sequence at once, and rewinds to its stored
// position when it starts, so the server's own redelivery matters only if the owner hangs. The
// server keeps the acknowledgements of frontiers in memory: storing them, ten times a second for
// each consumer, took a quarter of its CPU. It stores those of writers, which alone determine what
// must be kept while a writer is away.
func PartitionConsumer(name, kind string, p int) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable:       name + "-" + strconv.Itoa(p),
		FilterSubject: partitioned(kind, "*", p),
		AckPolicy:     jetstream.AckAllPolicy, AckWait: 5 * time.Minute,
		MaxAckPending: 16384, MaxDeliver: -1, DeliverPolicy: jetstream.DeliverAllPolicy,
		MemoryStorage: name == ConsumerURLs || name == ConsumerResults,
	}
}

// Durable names of the consumers.
const (
	ConsumerSeeds   = "frontier-seeds"   // on SEEDS, shared by frontiers
	ConsumerURLs    = "frontier-urls"    // on URLS, one per partition
	ConsumerResults = "frontier-results" // on RESULTS, one per partition
	ConsumerFetch   = "fetcher"          // on FETCH, shared by fetchers
	ConsumerRender  = "renderer"         // on FETCH, shared by renderers
	ConsumerParse   = "parser"           // on PAGES, shared by parsers
	ConsumerWriter  = "writer"           // on RECORDS, one per writer name and partition
)
