package repartition

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/state"
)

// eventually waits until do is true, and shows what it said last if it never is.
func eventually(t *testing.T, what string, do func() (bool, string)) {
	t.Helper()
	said := ""
	defer func() {
		if t.Failed() {
			t.Log(said)
		}
	}()
	await.Eventually(t, what, func() (done bool) {
		done, said = do()
		return done
	})
}

// cluster is a broker, and a frontier on it that runs now and then.
type cluster struct {
	t      *testing.T
	url    string
	stores int
}

func newCluster(t *testing.T) *cluster {
	return &cluster{t: t, url: natstest.NewBroker(t).URL()}
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// run runs a frontier with a store of its own, and do beside it.
func (c *cluster) run(partitions int, do func(b *stages.Bus)) {
	c.t.Helper()
	b, _ := stagestest.Dial(c.t, c.url)
	cfg := frontier.DefaultConfig()
	cfg.Partitions, cfg.SnapshotEvery = partitions, crawlspec.Duration(time.Second)
	c.must(frontier.Provision(c.t.Context(), cfg, b))
	c.stores++
	store, err := state.OpenStore(filepath.Join(c.t.TempDir(), fmt.Sprint(c.stores)), 8<<20, state.SyncOS, nil, slog.New(slog.DiscardHandler))
	c.must(err)
	defer store.Close()
	specs, stop, err := stages.FollowSpecs(c.t.Context(), b)
	c.must(err)
	defer stop()
	f, err := frontier.New(cfg, b, specs, store)
	c.must(err)
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	defer func() {
		cancel()
		c.must(<-done)
	}()
	eventually(c.t, "own all partitions and be settled", func() (bool, string) {
		client := frontierapi.Client{Bus: b}
		settled, err := client.Settled(c.t.Context())
		return err == nil && settled, fmt.Sprint(err)
	})
	do(b)
}

// urls are of hosts of a domain each.
func urls(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("https://www.d%d.test/%d", i%40, i))
	}
	return all
}

// feed begins a crawl with a budget, and answers some requests: the rest stays queued.
func (c *cluster) feed(b *stages.Bus, answers int) {
	c.t.Helper()
	specs, err := stages.OpenSpecs(c.t.Context(), b)
	c.must(err)
	spec := crawlspec.Default()
	spec.MaxPages = 1000
	_, err = specs.Put(c.t.Context(), "c", &spec)
	c.must(err)
	c.must(stages.NewPublisher(b, "test").Publish(c.t.Context(), &nats.Msg{Subject: messages.SubjectSeeds("c"), Data: []byte(strings.Join(urls(400), "\n"))}))
	consumer, err := b.JS.CreateOrUpdateConsumer(c.t.Context(), messages.StreamFetch, messages.WorkConsumer(messages.ConsumerFetch, "seine.fetch.>", 1000))
	c.must(err)
	for range answers {
		c.answer(b, consumer)
	}
	c.must(err)
	_, err = specs.Change(c.t.Context(), "c", func(s *crawlspec.Spec) error { return s.SetState("", crawlspec.Paused) })
	c.must(err)
	// What was sent before is answered, too.
	eventually(c.t, "have nothing under way", func() (bool, string) {
		s, err := b.JS.Stream(c.t.Context(), messages.StreamFetch)
		c.must(err)
		n := s.CachedInfo().State.Msgs
		for range n {
			c.answer(b, consumer)
		}
		client := frontierapi.Client{Bus: b}
		st, err := client.Status(c.t.Context(), "c")
		return err == nil && st.InFlight+st.Parsing == 0 && n == 0, fmt.Sprintf("%+v, %v", st.Counters, err)
	})
}

// answer does a fetcher's work, and a parser's, for one request.
func (c *cluster) answer(b *stages.Bus, consumer jetstream.Consumer) {
	c.t.Helper()
	m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
	if errors.Is(err, nats.ErrTimeout) {
		return
	}
	c.must(err)
	req, err := messages.DecodeRequest(m.Data())
	c.must(err)
	p := messages.Partition(req.URL, b.Layout.Partitions)
	res := &messages.Result{V: messages.Version, Crawl: req.Crawl, Rev: req.Rev, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt, Class: messages.OK, Status: 200, BytesWire: 100}
	end := &messages.Candidates{
		V: messages.Version, Crawl: req.Crawl, Rev: req.Rev, Source: messages.SourceLink, Referrer: req.URL, Depth: 1, Ends: req.Visit,
		URLs: []messages.Candidate{{URL: strings.Replace(req.URL, "//www.", "//", 1) + "x"}},
	}
	pub := stages.NewPublisher(b, "test")
	c.must(pub.Publish(c.t.Context(), &nats.Msg{Subject: messages.SubjectResults(req.Crawl, p), Data: messages.Encode(res)}))
	c.must(pub.Publish(c.t.Context(), &nats.Msg{Subject: messages.SubjectURLs(messages.SourceLink, req.Crawl, p), Data: messages.Encode(end)}))
	c.must(m.DoubleAck(c.t.Context()))
}

// known is all that a frontier says of the crawl.
type known struct {
	Counters frontierapi.Counters
	URLs     map[string]string // state of each
	Hosts    map[string]frontierapi.HostStatus
}

func (c *cluster) known(b *stages.Bus) known {
	c.t.Helper()
	client := frontierapi.Client{Bus: b}
	k := known{URLs: make(map[string]string), Hosts: make(map[string]frontierapi.HostStatus)}
	st, err := client.Status(c.t.Context(), "c")
	c.must(err)
	k.Counters = st.Counters
	k.Counters.Changed = 0
	for i := range 40 {
		for _, host := range []string{fmt.Sprintf("www.d%d.test", i), fmt.Sprintf("d%d.test", i)} {
			page, err := client.KnownPage(c.t.Context(), "c", host, "", 0)
			c.must(err)
			for _, u := range page.URLs {
				k.URLs[u.URL] = u.State
			}
			h, err := client.Host(c.t.Context(), host)
			c.must(err)
			h.NextMS, h.Why, h.Last = 0, "", nil // which are of the moment, and of the process
			for i := range h.Crawls {
				h.Crawls[i].Parked = false
			}
			k.Hosts[host] = h
		}
	}
	return k
}

// change returns a change of the number of partitions.
func (c *cluster) change(to int) *Change {
	b, log := stagestest.Dial(c.t, c.url)
	return &Change{Bus: b, To: to, Dir: filepath.Join(c.t.TempDir(), "work"), Log: log.Logger()}
}

func (c *cluster) budget(b *stages.Bus) (doc state.Budget) {
	c.t.Helper()
	text, rev, err := b.ReadKey(c.t.Context(), messages.BucketMeta, messages.KeyBudget("c"))
	c.must(err)
	if rev == 0 {
		c.t.Fatal("the crawl has no budget")
	}
	c.must(jsontext.Unmarshal(text, &doc))
	return doc
}

func sum(of map[string]int64) (n int64) {
	for _, k := range of {
		n += k
	}
	return n
}

// A process that ends after any step leaves what the next one goes on from, and all that a frontier
// knows is the same afterwards.
func TestChangeGoesOnAfterEachStep(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	var before known
	c.run(4, func(b *stages.Bus) {
		c.feed(b, 100)
		before = c.known(b)
		c.awaitSaved(b)
	})
	for i, to := range []int{16, 4} {
		ended := errors.New("the process ends here")
		for _, step := range []string{stepBegun, stepRead, stepCopied, stepStored, stepDecided, stepInstalled, stepBudgets, stepPurged, stepLaidOut} {
			ch := c.change(to)
			ch.At = func(at string) error {
				if at == step {
					return ended
				}
				return nil
			}
			if _, err := ch.Run(t.Context()); !errors.Is(err, ended) {
				t.Fatalf("to %d, at %q: %v", to, step, err)
			}
			if step != stepLaidOut {
				c.refuses(to)
			}
		}
		last := c.change(to)
		_, err := last.Run(t.Context())
		c.must(err)
		c.wantClean(last.Bus, to)
		budget := c.budget(last.Bus)
		if n := sum(budget.Pages); n != before.Counters.Pages {
			t.Errorf("of the budget %d pages are used, want %d: %v", n, before.Counters.Pages, budget.Pages)
		}
		former, err := last.Bus.FormerLayouts(t.Context())
		c.must(err)
		if len(former) != i+1 {
			t.Errorf("it has been changed %d times, and %d are noted: %+v", i+1, len(former), former)
		}
		c.run(to, func(b *stages.Bus) {
			if after := c.known(b); !reflect.DeepEqual(after, before) {
				t.Errorf("to %d: the frontier knows\n%+v, want\n%+v", to, after, before)
			}
			c.awaitSaved(b)
		})
	}
}

// awaitSaved waits until the server knows what the frontier has applied, and has it in snapshots.
func (c *cluster) awaitSaved(b *stages.Bus) {
	c.t.Helper()
	eventually(c.t, "have nothing unread, and all saved", func() (bool, string) {
		left, err := unread(c.t.Context(), b)
		c.must(err)
		more, err := unsaved(c.t.Context(), b)
		c.must(err)
		left = append(left, more...)
		return len(left) == 0, strings.Join(left, "; ")
	})
}

// refuses checks that no frontier begins while the number is being changed.
func (c *cluster) refuses(to int) {
	c.t.Helper()
	b, _ := stagestest.Dial(c.t, c.url)
	for _, partitions := range []int{4, 16} {
		if err := b.Provision(c.t.Context(), partitions, messages.DefaultStreamLimits(), 1); !errors.Is(err, stages.ErrMoving) || !strings.Contains(err.Error(), fmt.Sprint("--to ", to)) {
			c.t.Errorf("a frontier begins with %d partitions: %v", partitions, err)
		}
	}
}

// wantClean checks that nothing is left of the old partitions, nor of attempts that were ended.
func (c *cluster) wantClean(b *stages.Bus, partitions int) {
	c.t.Helper()
	keys, err := b.Keys(c.t.Context(), messages.BucketMeta)
	c.must(err)
	kinds := make(map[string]int)
	for _, key := range keys {
		kind, _, _ := strings.Cut(key, ".")
		kinds[kind]++
	}
	want := map[string]int{"layout": 1, "provisioned": 1, "former": 1, "budget": 1, "frontier": partitions, "snapshot": partitions}
	maps.DeleteFunc(kinds, func(kind string, _ int) bool { return kind == "alerts" || kind == "position" })
	if !maps.Equal(kinds, want) {
		c.t.Errorf("the bucket has %v, want %v", kinds, want)
	}
	box, err := b.JS.ObjectStore(c.t.Context(), messages.BucketSnapshots)
	c.must(err)
	objects, err := box.List(c.t.Context())
	c.must(err)
	if len(objects) != partitions {
		c.t.Errorf("there are %d snapshots, want %d", len(objects), partitions)
	}
	for _, stream := range []string{messages.StreamURLs, messages.StreamResults} {
		s, err := b.JS.Stream(c.t.Context(), stream)
		c.must(err)
		if n := s.CachedInfo().State.Msgs; n > 0 {
			c.t.Errorf("%s has %d messages", stream, n)
		}
		consumers, err := b.Consumers(c.t.Context(), stream)
		c.must(err)
		durable := 0 // the server forgets the others within a minute
		for _, consumer := range consumers {
			if consumer.Config.Durable != "" {
				durable++
			}
		}
		if durable > partitions {
			c.t.Errorf("%s has %d durable consumers, want at most %d", stream, durable, partitions)
		}
	}
}

// What is in the way is told, and nothing is changed.
func TestChangeSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.run(4, func(b *stages.Bus) {
		ch := c.change(16)
		c.must(stages.NewPublisher(b, "test").Publish(t.Context(), &nats.Msg{Subject: messages.SubjectRecords("c", 1), Data: []byte("{}")}))
		_, err := b.JS.CreateOrUpdateConsumer(t.Context(), messages.StreamRecords, messages.PartitionConsumer(messages.ConsumerWriter+"-my-name", "records", 1))
		c.must(err)
		out, err := ch.DryRun(t.Context())
		c.must(err)
		text := strings.Join(out.Blockers, "\n")
		for _, want := range []string{"frontier ", "owns 4 partitions", "RECORDS has 1 message that the writer my-name has not done with"} {
			if !strings.Contains(text, want) {
				t.Errorf("it does not say %q:\n%s", want, text)
			}
		}
	})
	ch := c.change(16)
	if _, err := ch.Run(t.Context()); !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), "my-name") {
		t.Errorf("it was changed: %v", err)
	}
	layout, err := ch.Bus.Existing(t.Context())
	c.must(err)
	if layout.Partitions != 4 || layout.Moving != 0 {
		t.Errorf("the layout is %+v", layout)
	}
}

// A change is given up as long as it has not been decided.
func TestChangeIsAbandoned(t *testing.T) {
	t.Parallel()
	for _, step := range []string{stepStored, stepDecided} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			var before known
			c.run(4, func(b *stages.Bus) {
				c.feed(b, 20)
				before = c.known(b)
				c.awaitSaved(b)
			})
			ended := errors.New("the process ends here")
			ch := c.change(8)
			ch.At = func(at string) error {
				if at == step {
					return ended
				}
				return nil
			}
			if _, err := ch.Run(t.Context()); !errors.Is(err, ended) {
				t.Fatal(err)
			}
			if _, err := c.change(16).Run(t.Context()); !errors.Is(err, ErrOther) {
				t.Errorf("another number: %v", err)
			}
			err := c.change(0).Abandon(t.Context())
			if step == stepDecided {
				if !errors.Is(err, ErrBegun) {
					t.Errorf("it was given up: %v", err)
				}
				return
			}
			c.must(err)
			c.run(4, func(b *stages.Bus) {
				if after := c.known(b); !reflect.DeepEqual(after, before) {
					t.Errorf("the frontier knows\n%+v, want\n%+v", after, before)
				}
			})
		})
	}
}

// A folder with anything else in it is not touched.
func TestChangeRefusesAFolderWithSomethingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := state.OpenStore(dir, 1<<20, state.SyncOS, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	ch := &Change{Dir: dir}
	if err := ch.makeDir(); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("it was taken: %v", err)
	}
	if err := ch.removeDir(); err != nil {
		t.Error(err)
	}
	if _, err := filepath.Glob(filepath.Join(dir, "IDENTITY")); err != nil {
		t.Error(err)
	}
}
