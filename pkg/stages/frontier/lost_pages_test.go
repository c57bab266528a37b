package frontier

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// ofLostPages returns a fixture whose partition has visits in parsing, and where no parser runs
// yet.
func ofLostPages(t *testing.T, pages int, prepare func(*takeoverFixture)) (a *takeoverFixture, urls []string) {
	t.Helper()
	a = newTakeoverFixture(t)
	a.lostPageAfter = 200 * time.Millisecond
	a.shortDedup(a.pages())
	if prepare != nil {
		prepare(a)
	}
	a.own(a.store(), 1, 0)
	for _, host := range hosts(pages) {
		urls = append(urls, "http://"+host+"/")
	}
	a.seed(urls...)
	for _, e := range a.take(pages) {
		e.fetched()
	}
	a.eventually("all visits are being parsed", func() bool {
		st, ok := a.status()
		return ok && st.Counters.Parsing == int64(pages)
	})
	return a, urls
}

// fetched publishes the page and the result of the request, like a fetcher.
func (t *fetchTask) fetched() {
	t.a.t.Helper()
	body := []byte("<title>page</title><p>of " + t.URL)
	page := messages.Page{
		Crawl: t.Crawl, URL: t.URL, Visit: t.Visit, Attempt: t.Attempt, Depth: t.Depth, Status: 200, ContentType: "text/html",
		FetchedAt: time.Now(), BodySize: int64(len(body)),
	}
	if t.ETag != "" {
		t.a.t.Errorf("%s is asked for only if it has changed", t.URL)
	}
	t.a.eventually("PAGES takes no page for a repeat", func() bool {
		ack, err := t.a.bus.JS.PublishMsg(t.a.t.Context(), page.Msg(0, body))
		t.a.must(err)
		return !ack.Duplicate
	})
	t.ends(messages.OK)
}

// parse starts a worker of the parser stage, which makes a record of each page once ready has
// returned.
func (t *takeoverFixture) parse(workers int, ready func(context.Context)) {
	t.t.Helper()
	r := &stages.Runner{
		Stage: messages.StageParser, Bus: t.bus, Stream: messages.StreamPages, Workers: workers, Prefetch: 1, Drain: maxWait,
		Consumer: messages.WorkConsumer(messages.ConsumerParse, messages.SubjectsToParse, 4096),
		Handle: func(ctx context.Context, m *stages.Message) (out stages.Output, err error) {
			page, err := messages.DecodePage(m.Header)
			if err != nil {
				return out, stages.PoisonError(err)
			}
			if ready(ctx); ctx.Err() != nil {
				return out, ctx.Err()
			}
			record := nats.NewMsg(messages.SubjectRecords(page.Crawl, 0))
			record.Header.Set(nats.MsgIdHdr, messages.VisitID(page.Crawl, page.Visit))
			end := messages.Candidates{Crawl: page.Crawl, Source: messages.SourceLink, Depth: 1, Ends: page.Visit}
			out.First = []*nats.Msg{record}
			out.Then = []*nats.Msg{{Subject: messages.SubjectURLs(end.Source, page.Crawl, 0), Data: end.Encode()}}
			return out, nil
		},
	}
	await.Start(t.t, r.Run)
}

// pagesStored returns the URLs of the pages in PAGES.
func (t *takeoverFixture) pagesStored() (urls []string) {
	t.t.Helper()
	for seq := uint64(1); ; seq++ {
		m, err := t.pages().GetMsg(t.t.Context(), seq, jetstream.WithGetMsgSubject(messages.SubjectsToParse))
		if err != nil {
			return urls
		}
		page, err := messages.DecodePage(m.Header)
		t.must(err)
		urls, seq = append(urls, page.URL), m.Sequence
	}
}

func (t *takeoverFixture) pages() jetstream.Stream {
	return natstest.StreamOf(t.t, t.bus.JS, messages.StreamPages)
}

// limitPages makes PAGES discard old messages beyond most.
func (t *takeoverFixture) limitPages(most int64) {
	t.t.Helper()
	config := t.pages().CachedInfo().Config
	config.Discard, config.MaxMsgs = jetstream.DiscardOld, most
	_, err := t.bus.JS.UpdateStream(t.t.Context(), config)
	t.must(err)
}

// deletePages deletes messages of PAGES.
func (t *takeoverFixture) deletePages(seqs ...uint64) {
	t.t.Helper()
	for _, seq := range seqs {
		t.must(t.pages().DeleteMsg(t.t.Context(), seq))
	}
}

// pull delivers pages to a parser that returns them with a delay, and ends.
func (t *takeoverFixture) pull(n int) {
	t.t.Helper()
	c, err := t.bus.JS.CreateOrUpdateConsumer(t.t.Context(), messages.StreamPages, messages.WorkConsumer(messages.ConsumerParse, messages.SubjectsToParse, 4096))
	t.must(err)
	batch, err := c.Fetch(n, jetstream.FetchMaxWait(maxWait))
	t.must(err)
	for m := range batch.Messages() {
		t.must(m.NakWithDelay(3 * time.Second))
	}
	t.must(batch.Error())
}

// Whatever makes pages leave PAGES before a parser has received them, each visit ends, each page
// has its record once, and only visits whose pages are gone are fetched again.
func TestVisitsWhosePagesAreLost_AreFetchedAgain(t *testing.T) {
	t.Parallel()
	const pages = 6
	for name, tt := range map[string]struct {
		prepare, lose func(*takeoverFixture)
	}{
		"the stream is purged": {lose: func(a *takeoverFixture) { a.must(a.pages().Purge(a.t.Context())) }},
		"the stream is purged up to a message": {lose: func(a *takeoverFixture) {
			a.must(a.pages().Purge(a.t.Context(), jetstream.WithPurgeSequence(4)))
		}},
		"the first messages are deleted": {lose: func(a *takeoverFixture) { a.deletePages(1, 2) }},
		"messages between others are":    {lose: func(a *takeoverFixture) { a.deletePages(2, 4, 5) }},
		"the last messages are":          {lose: func(a *takeoverFixture) { a.deletePages(5, 6) }},
		"the stream discards old messages": {
			prepare: func(a *takeoverFixture) { a.limitPages(2) },
			lose:    func(a *takeoverFixture) { a.limitPages(-1) },
		},
		"the stream is purged while messages wait to come again": {lose: func(a *takeoverFixture) {
			a.pull(4)
			a.must(a.pages().Purge(a.t.Context()))
		}},
		"messages are deleted while they wait to come again": {lose: func(a *takeoverFixture) {
			a.pull(4)
			a.deletePages(1, 2, 3, 4, 6)
		}},
		"the stream is created again": {lose: func(a *takeoverFixture) {
			a.must(a.bus.JS.DeleteStream(a.t.Context(), messages.StreamPages))
			a.must(Provision(a.t.Context(), a.config(time.Hour), a.bus))
			a.shortDedup(a.pages())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, urls := ofLostPages(t, pages, tt.prepare)
			tt.lose(a)
			want := slices.DeleteFunc(slices.Clone(urls), func(url string) bool { return slices.Contains(a.pagesStored(), url) })
			a.parse(2, func(context.Context) {})
			var again []string
			for _, e := range a.take(len(want)) {
				again = append(again, e.URL)
				if e.Attempt != 2 || e.Visit.Round <= 1 {
					t.Errorf("%s is fetched in attempt %d of round %d", e.URL, e.Attempt, e.Visit.Round)
				}
				e.fetched()
			}
			slices.Sort(again)
			if slices.Sort(want); !slices.Equal(again, want) {
				t.Errorf("fetched again are %q, want %q", again, want)
			}
			a.eventually("all visits have ended", func() bool {
				st, ok := a.status()
				return ok && st.Counters.Done == pages && st.Counters.Pending() == 0
			})
			if got := natstest.Stored(t, a.bus.JS, messages.StreamRecords); len(got) != pages {
				t.Errorf("there are %d records: %q", len(got), got)
			}
			a.none()
		})
	}
}

// A page that merely waits is not fetched again, whether no parser has received it, or one holds it
// although it was purged since.
func TestPagesOfASlowParser_AreNotFetchedAgain(t *testing.T) {
	t.Parallel()
	info := "$JS.API.CONSUMER.INFO." + messages.StreamPages + "." + messages.ConsumerParse
	for name, tt := range map[string]struct {
		workers int64
		back    int // so many are given back before
		purge   bool
		looked  string // what a look for lost pages asks last
	}{
		"not taken":  {looked: info},
		"given back": {back: 3, looked: info},
		"taken":      {workers: 2, looked: info},
		"one taken":  {workers: 1, looked: info},
		"purged":     {workers: 3, purge: true, looked: messages.SubjectInFlight(messages.ConsumerParse)},
		"prefetched": {workers: 2, purge: true, looked: messages.SubjectInFlight(messages.ConsumerParse)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pages = 3
			a, _ := ofLostPages(t, pages, nil)
			var held, looks atomic.Int64
			goOn := make(chan struct{})
			start := func() {
				a.parse(max(1, int(tt.workers)), func(ctx context.Context) {
					held.Add(1)
					select {
					case <-goOn:
					case <-ctx.Done():
					}
				})
			}
			if tt.back > 0 {
				a.pull(tt.back)
			}
			if tt.workers > 0 {
				start()
			}
			a.eventually("the parser has pages", func() bool { return held.Load() == tt.workers })
			if tt.purge {
				a.eventually("all pages are with the parser", func() bool {
					c, err := a.bus.JS.Consumer(t.Context(), messages.StreamPages, messages.ConsumerParse)
					return err == nil && c.CachedInfo().NumAckPending == pages
				})
				a.must(a.pages().Purge(t.Context()))
			}
			sub, err := a.bus.NC.Subscribe(tt.looked, func(*nats.Msg) { looks.Add(1) })
			a.must(err)
			a.eventually("the frontier has looked for them", func() bool { return looks.Load() > 5 })
			a.must(sub.Unsubscribe())
			close(goOn)
			if tt.workers == 0 {
				start()
			}
			a.eventually("all visits have ended", func() bool {
				st, ok := a.status()
				return ok && st.Counters.Done == pages && st.Counters.Pending() == 0
			})
			a.none()
		})
	}
}

// A visit whose page is lost each time ends nevertheless.
func TestVisitWhosePageIsLostEachTime_Fails(t *testing.T) {
	t.Parallel()
	a, urls := ofLostPages(t, 1, nil)
	for attempt := 2; ; attempt++ {
		a.must(a.pages().Purge(t.Context()))
		var failed bool
		a.eventually("it is fetched again, or fails", func() bool {
			st, ok := a.status()
			failed = ok && st.Counters.Failed == 1
			return failed || ok && st.Counters.InFlight == 1
		})
		if failed {
			break
		}
		e := a.take(1)[0]
		if e.URL != urls[0] || e.Attempt != attempt || attempt > 20 {
			t.Fatalf("attempt %s %d", e.URL, e.Attempt)
		}
		e.fetched()
		a.eventually("it is parsed", func() bool {
			st, ok := a.status()
			return ok && st.Counters.Parsing == 1
		})
	}
	if len(natstest.Stored(t, a.bus.JS, messages.StreamRecords)) > 0 {
		t.Error("there are records of " + strconv.Quote(urls[0]))
	}
}
