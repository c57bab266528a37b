package doctor

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/partition"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// edited is a cluster whose objects are edited by hand, with parts of a frontier, a parser and a
// reader of a partition.
type edited struct {
	t    *testing.T
	bus  *stages.Bus
	sent atomic.Int64
	// The last probes received through PAGES and URLS.
	pages, urls atomic.Int64
	last        string // last output, for failures
}

func openEdited(t *testing.T) *edited {
	t.Helper()
	bus, _ := stagestest.Dial(t, natstest.NewBroker(t).URL())
	bus.CheckEvery = 20 * time.Millisecond
	check(t, bus.Provision(t.Context(), 2, messages.DefaultStreamLimits(), 1))
	e := &edited{t: t, bus: bus}
	ctx, stop := context.WithCancel(context.Background())
	consumer, _ := messages.NamedConsumer(messages.StreamPages, messages.ConsumerParse)
	r := &stages.Runner{
		Stage: messages.StageParser, Bus: bus, Stream: messages.StreamPages, Consumer: consumer, Workers: 4, Drain: time.Second,
		Handle: func(_ context.Context, m *stages.Message) (stages.Output, error) {
			e.pages.Store(number(m.Data))
			return stages.Output{}, nil
		},
	}
	reader := partition.NewOrderedReader(bus, messages.StreamURLs, messages.PartitionConsumer(messages.ConsumerURLs, messages.AnyKind, 0), messages.Position{})
	ended := make(chan struct{}, 4)
	for _, run := range []func(){
		func() { stages.KeepProvisioned(ctx, bus) },
		func() { _ = r.Run(ctx) },
		func() { _ = reader.Run(ctx) },
		func() {
			for m := range reader.C() {
				e.urls.Store(number(m.Data))
				m.Ack()
			}
		},
	} {
		go func() { run(); ended <- struct{}{} }()
	}
	t.Cleanup(func() {
		stop()
		for range cap(ended) {
			<-ended
		}
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(e.last)
		}
	})
	e.awaitProbes()
	return e
}

func number(text []byte) (n int64) {
	_, _ = fmt.Sscan(string(text), &n)
	return n
}

// probe publishes to PAGES and URLS, if possible.
func (e *edited) probe() {
	text := fmt.Append(nil, e.sent.Add(1))
	for _, subject := range []string{messages.SubjectPages("c", 0), messages.SubjectURLs(messages.SourceLink, "c", 0)} {
		ctx, cancel := context.WithTimeout(e.t.Context(), 200*time.Millisecond)
		_, _ = e.bus.JS.Publish(ctx, subject, text, jetstream.WithRetryAttempts(0))
		cancel()
	}
}

func (e *edited) awaitProbes() {
	e.t.Helper()
	after := e.sent.Load()
	await.Eventually(e.t, "messages come through", func() bool {
		e.probe()
		return e.pages.Load() > after && e.urls.Load() > after
	})
}

// await waits until the cluster has recovered, or until readiness and doctor name the object and
// the field.
func (e *edited) await(outcome, object, field string) {
	e.t.Helper()
	after := e.sent.Load()
	running := map[string]bool{messages.StageParser: true}
	await.Eventually(e.t, outcome+": "+object+" "+field, func() bool {
		e.probe()
		found, err := objects(e.t.Context(), e.bus, running)
		told, ready := names(fmt.Sprint(found, err), object, field), e.bus.Ready()
		e.last = fmt.Sprint("ready: ", ready, "; doctor: ", found, err, "; sent ", e.sent.Load(), ", pages ", e.pages.Load(), ", urls ", e.urls.Load())
		if outcome == recovered {
			return !told && ready == nil && e.pages.Load() > after && e.urls.Load() > after
		}
		return told && ready != nil && names(ready.Error(), object, field)
	})
}

// Outcomes of an edit.
const (
	recovered = "recovered"
	reported  = "reported"
)

func names(text, object, field string) bool {
	return strings.Contains(text, object) && strings.Contains(text, field)
}

type streamEdit struct {
	name, want string
	edit       func(*jetstream.StreamConfig)
}

// streamEdits are edits of a stream by an operator, with their outcomes.
var streamEdits = []streamEdit{
	{"max_msgs", recovered, func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 }},
	{"max_bytes", recovered, func(c *jetstream.StreamConfig) { c.MaxBytes = 100 }},
	{"max_age", recovered, func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }},
	{"max_msg_size", recovered, func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1 }},
	{"max_msgs_per_subject", recovered, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 3 }},
	{"max_consumers", recovered, func(c *jetstream.StreamConfig) { c.MaxConsumers = 1 }},
	{"discard", recovered, func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }},
	{"subjects", recovered, func(c *jetstream.StreamConfig) { c.Subjects = []string{"seine.other." + strings.ToLower(c.Name)} }},
	{"duplicate_window", recovered, func(c *jetstream.StreamConfig) { c.Duplicates = time.Second }},
	{"no_ack", recovered, func(c *jetstream.StreamConfig) { c.NoAck = true }},
	{"retention", recovered, func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }},
	{"subject_transform", recovered, func(c *jetstream.StreamConfig) {
		c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: "seine.pages.*.*", Destination: "seine.chained.$1.$2"}
	}},
	{"allow_direct", recovered, func(c *jetstream.StreamConfig) { c.AllowDirect = false }},
	{"description", recovered, func(c *jetstream.StreamConfig) { c.Description = "mine" }},
	{"deny_delete", reported, func(c *jetstream.StreamConfig) { c.DenyDelete = true }},
	{"deny_purge", reported, func(c *jetstream.StreamConfig) { c.DenyPurge = true }},
	{"sealed", reported, func(c *jetstream.StreamConfig) { c.Sealed = true }},
}

func (e *edited) editStream(name string, edit func(*jetstream.StreamConfig)) {
	e.t.Helper()
	c := natstest.StreamOf(e.t, e.bus.JS, name).CachedInfo().Config
	edit(&c)
	if _, err := e.bus.JS.UpdateStream(e.t.Context(), c); err != nil {
		e.t.Fatalf("edit %s: %v", name, err)
	}
}

// After any manual edit of a stream, a crawl continues, or readiness and doctor report why not.
func TestStreamsEditedByHand(t *testing.T) {
	t.Parallel()
	e := openEdited(t)
	for _, x := range streamEdits {
		e.editStream(messages.StreamPages, x.edit)
		e.await(x.want, "stream PAGES", x.name)
		if x.want == reported { // with the command that doctor prints
			check(t, e.bus.JS.DeleteStream(t.Context(), messages.StreamPages))
			e.await(recovered, "stream PAGES", "")
		}
	}
}

// Every deleted stream, bucket and object store is re-created, except the one that identifies the
// cluster to the frontier.
func TestStreamsDeletedByHand(t *testing.T) {
	t.Parallel()
	e := openEdited(t)
	for _, s := range messages.AllStreams(messages.DefaultStreamLimits(), 1) {
		if s.Name != "KV_"+messages.BucketMeta {
			check(t, e.bus.JS.DeleteStream(t.Context(), s.Name))
			e.await(recovered, strings.NewReplacer("KV_", "bucket ", "OBJ_", "object store ").Replace(s.Name), "")
		}
	}
	check(t, e.bus.JS.DeleteStream(t.Context(), "KV_"+messages.BucketMeta))
	e.await(reported, messages.BucketMeta, "")
}

func TestBucketsEditedByHand(t *testing.T) {
	t.Parallel()
	e := openEdited(t)
	for _, name := range []string{"KV_" + messages.BucketRobots, "KV_" + messages.BucketLeases, "KV_" + messages.BucketCrawls, "OBJ_" + messages.BucketBodies} {
		for field, edit := range map[string]func(*jetstream.StreamConfig){
			"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge = 10 * time.Minute },
			"max_bytes":            func(c *jetstream.StreamConfig) { c.MaxBytes = 1000 },
			"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 7 },
			"max_msg_size":         func(c *jetstream.StreamConfig) { c.MaxMsgSize = 10 },
			"allow_rollup_hdrs":    func(c *jetstream.StreamConfig) { c.AllowRollup = false },
		} {
			e.editStream(name, edit)
			e.await(recovered, name[strings.IndexByte(name, '_')+1:], field)
		}
	}
}

// consumerEdits are edits of a consumer by an operator.
var consumerEdits = map[string]func(*jetstream.ConsumerConfig){
	"max_ack_pending": func(c *jetstream.ConsumerConfig) { c.MaxAckPending = 1 },
	"max_batch":       func(c *jetstream.ConsumerConfig) { c.MaxRequestBatch = 1 },
	"max_expires":     func(c *jetstream.ConsumerConfig) { c.MaxRequestExpires = time.Millisecond },
	"max_bytes":       func(c *jetstream.ConsumerConfig) { c.MaxRequestMaxBytes = 1 },
	"ack_wait":        func(c *jetstream.ConsumerConfig) { c.AckWait = time.Second },
	"max_deliver":     func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 1 },
	"filter_subject":  func(c *jetstream.ConsumerConfig) { c.FilterSubject = "seine.pages.other.7" },
	"filter_subjects": func(c *jetstream.ConsumerConfig) {
		c.FilterSubject, c.FilterSubjects = "", []string{"seine.pages.a.7", "seine.pages.b.7"}
	},
	"inactive_threshold": func(c *jetstream.ConsumerConfig) { c.InactiveThreshold = time.Hour },
	"headers_only":       func(c *jetstream.ConsumerConfig) { c.HeadersOnly = true },
	"sample_freq":        func(c *jetstream.ConsumerConfig) { c.SampleFrequency = "10%" },
}

func TestConsumersEditedByHand(t *testing.T) {
	t.Parallel()
	e := openEdited(t)
	for stream, name := range map[string]string{messages.StreamPages: messages.ConsumerParse, messages.StreamURLs: messages.ConsumerURLs + "-0"} {
		object := "consumer " + name + " of stream " + stream
		for field, edit := range consumerEdits {
			c := natstest.ConsumerInfo(t, e.bus.JS, stream, name).Config
			edit(&c)
			if stream == messages.StreamURLs {
				c.FilterSubject = strings.Replace(c.FilterSubject, "seine.pages.", "seine.urls.", 1)
				for i := range c.FilterSubjects {
					c.FilterSubjects[i] = strings.Replace(c.FilterSubjects[i], "seine.pages.", "seine.urls.", 1)
				}
			}
			_, err := e.bus.JS.UpdateConsumer(t.Context(), stream, c)
			check(t, err)
			e.await(recovered, object, field)
		}
		check(t, e.bus.JS.DeleteConsumer(t.Context(), stream, name))
		e.await(recovered, object, "")
		_, err := e.bus.JS.PauseConsumer(t.Context(), stream, name, time.Now().Add(time.Hour))
		check(t, err)
		e.await(reported, object, "paused")
		_, err = e.bus.JS.ResumeConsumer(t.Context(), stream, name)
		check(t, err)
		e.await(recovered, object, "paused")
	}
}

// A foreign consumer that takes requests from FETCH is named, even if it prevents the fetcher from
// creating its own.
func TestConsumerOfAStrangerOnFetch(t *testing.T) {
	t.Parallel()
	e := openEdited(t)
	theirs, err := e.bus.JS.CreateConsumer(t.Context(), messages.StreamFetch, jetstream.ConsumerConfig{Durable: "app", AckPolicy: jetstream.AckExplicitPolicy})
	check(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	consumer, _ := messages.NamedConsumer(messages.StreamFetch, messages.ConsumerFetch)
	r := &stages.Runner{Stage: messages.StageFetcher, Bus: e.bus, Stream: messages.StreamFetch, Consumer: consumer, Workers: 1, Drain: time.Second}
	go func() { defer close(ended); _ = r.Run(ctx) }()
	defer func() { stop(); <-ended }()
	await.Eventually(t, "readiness names the consumer that cannot be created", func() bool {
		err := e.bus.Ready()
		return err != nil && names(err.Error(), "consumer fetcher of stream FETCH", "nats consumer report FETCH")
	})
	found, err := objects(t.Context(), e.bus, nil)
	if text := fmt.Sprint(found, err); !names(text, "consumer app of stream FETCH", "nats consumer rm FETCH app") {
		t.Errorf("doctor: %s", text)
	}
	check(t, e.bus.JS.DeleteConsumer(t.Context(), messages.StreamFetch, theirs.CachedInfo().Name))
	await.Eventually(t, "the fetcher has its consumer", func() bool { return e.bus.Ready() == nil })
}

// Requests stay within the server's limits if those are below Seine's.
func TestRequestsAreWithinTheLimitsOfTheServer(t *testing.T) {
	t.Parallel()
	broker := natstest.NewBroker(t, func(o *natsserver.Options) { o.JetStreamLimits.MaxRequestBatch = 10 })
	bus, _ := stagestest.Dial(t, broker.URL())
	bus.CheckEvery = 20 * time.Millisecond
	check(t, bus.Provision(t.Context(), 2, messages.DefaultStreamLimits(), 1))
	natstest.Send(t, bus.JS, messages.SubjectURLs(messages.SourceLink, "c", 0), 50)
	ctx, stop := context.WithCancel(t.Context())
	reader := partition.NewOrderedReader(bus, messages.StreamURLs, messages.PartitionConsumer(messages.ConsumerURLs, messages.AnyKind, 0), messages.Position{})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = reader.Run(ctx) }()
	for range 50 {
		select {
		case <-reader.C():
		case <-time.After(await.Patience):
			t.Fatalf("no more messages: %v", bus.Ready())
		}
	}
	stop()
	for range reader.C() {
	}
	<-ended
}

// An account with too little storage for Seine is reported with the required size.
func TestAccountIsTooSmall(t *testing.T) {
	t.Parallel()
	s, bus := stagestest.Open(t)
	check(t, s.Server.GlobalAccount().UpdateJetStreamLimits(map[string]natsserver.JetStreamAccountLimits{"": {MaxStore: 64 << 30, MaxStreams: -1, MaxConsumers: -1, MaxMemory: -1}}))
	p, err := stages.ReadProvisioned(t.Context(), bus)
	check(t, err)
	if f := account(t.Context(), bus, p); f.Level != OK {
		t.Errorf("found %+v", f)
	}
	p.Limits.PagesBytes = 1 << 40
	if f := account(t.Context(), bus, p); f.Level != Fail || !strings.Contains(f.What, "max_storage") {
		t.Errorf("found %+v", f)
	}
}

// Messages that no consumer reads are counted by subject.
func TestMessagesThatNobodyReads(t *testing.T) {
	t.Parallel()
	_, bus := stagestest.Open(t)
	natstest.Send(t, bus.JS, "seine.urls.default.99", 3)
	natstest.Send(t, bus.JS, messages.SubjectURLs(messages.SourceLink, "default", 3), 1)
	found, err := strays(t.Context(), bus)
	check(t, err)
	if len(found) != 1 || found[0].Level != Warn || !strings.Contains(found[0].What, "3 messages of subject seine.urls.default.99") {
		t.Errorf("found %+v", found)
	}
}

// Doctor reports everything it can about a server without most of Seine's streams, and does not
// stop at the first error.
func TestExamine_StreamsGone_SaysAllTheRest(t *testing.T) {
	t.Parallel()
	_, bus := stagestest.Open(t)
	for _, name := range []string{messages.StreamPages, messages.StreamFetch, "KV_" + messages.BucketLeases, "OBJ_" + messages.BucketBodies} {
		check(t, bus.JS.DeleteStream(t.Context(), name))
	}
	text := fmt.Sprintf("%+v", Examine(t.Context(), bus, ""))
	for _, want := range []string{"stream PAGES is missing", "stream FETCH is missing", "bucket seine_leases is missing", "object store seine_bodies is missing", "Check:limits", "Check:clock", "Check:account"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}
