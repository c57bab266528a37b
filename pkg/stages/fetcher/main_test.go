package fetcher

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"seine/internal/base/contentcoding"
	"seine/internal/testing/natstest"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const testCrawl = "test"

// fetcherFixture is a fetcher on its own NATS server, with its own test web.
type fetcherFixture struct {
	*Fetcher
	t   testing.TB
	bus *stages.Bus
	web *testweb.Web
	url func(path string) string // of host 0
}

// newBus starts a NATS server inside this process.
func newBus(t testing.TB) *stages.Bus {
	t.Helper()
	bus, err := stages.Dial("", t.Name(), slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.Provision(t.Context(), 16, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	return bus
}

// answerWanted plays the frontier that answers claims.
func answerWanted(t testing.TB, bus *stages.Bus, wanted bool) {
	t.Helper()
	text, err := json.Marshal(messages.ClaimReply{Granted: wanted})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := bus.NC.Subscribe("seine.frontier."+messages.OpClaim+".*", func(m *nats.Msg) { _ = m.Respond(text) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
}

// localSpec returns a spec that may dial loopback, and has no delay.
func localSpec() crawlspec.Spec {
	s := crawlspec.Default()
	s.AllowPrivate, s.Delay = true, 0
	s.Timeout = crawlspec.Duration(20 * time.Second)
	return s
}

// option changes the fixture of newFetcherFixture.
type option func(*Config, *crawlspec.Spec, *testweb.Config)

func newFetcherFixture(t testing.TB, options ...option) *fetcherFixture {
	t.Helper()
	cfg, spec, web := DefaultConfig(), localSpec(), testweb.Config{Special: true}
	for _, o := range options {
		o(&cfg, &spec, &web)
	}
	bus := newBus(t)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := specs.Put(t.Context(), testCrawl, &spec); err != nil {
		t.Fatal(err)
	}
	f, err := New(cfg, bus, specs)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.client.Close)
	w := testweb.New(web)
	srv := testweb.Run(t, w)
	t.Cleanup(f.client.Close)
	return &fetcherFixture{Fetcher: f, t: t, bus: bus, web: w, url: func(path string) string { return srv.URL(0, path) }}
}

func ignoreRobots(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Robots = crawlspec.RobotsIgnore }

// request returns a request as the frontier would send it.
func request(url string) *messages.Request {
	return &messages.Request{
		Crawl: testCrawl, Rev: 1, URL: url, Visit: messages.Visit{URL: messages.HashURL(url), Round: 1},
		Attempt: 1, Depth: 2, Referrer: "http://referrer.example/",
	}
}

// handled is the decoded output of handle.
type handled struct {
	*messages.Result
	page *messages.Page
	body []byte
	urls *messages.Candidates
	out  stages.Output
	// answers are the archived responses other than the page.
	answers []answered
}

// answered is a decoded response that is not a page.
type answered struct {
	*messages.Page
	id, request, head, body string
}

// requestMessage is a first delivery of a request for url.
func requestMessage(url string) (*stages.Message, *messages.Request) {
	req := request(url)
	return messageOf(req), req
}

// messageOf is the first delivery of a request.
func messageOf(req *messages.Request) *stages.Message {
	return &stages.Message{Subject: messages.SubjectFetch(req.Crawl, 0), Data: req.Encode(), Deliveries: 1, Stored: time.Now()}
}

func (s *fetcherFixture) handle1(req *messages.Request, deliveries uint64) handled {
	s.t.Helper()
	m := messageOf(req)
	m.Deliveries = deliveries
	out, err := s.handle(context.Background(), m)
	if err != nil {
		s.t.Fatalf("handle %s: %v", req.URL, err)
	}
	if out.Free != nil {
		defer out.Free() // as the runner does when everything is stored
	}
	return s.decode(out, req)
}

// get handles a first delivery of a request for url.
func (s *fetcherFixture) get(url string) handled {
	s.t.Helper()
	return s.handle1(request(url), 1)
}

// decode checks what all outputs have in common, and decodes the output like the other stages.
func (s *fetcherFixture) decode(out stages.Output, req *messages.Request) handled {
	s.t.Helper()
	h := handled{out: out}
	if len(out.Last) != 1 {
		s.t.Fatalf("%d messages in Last, want the result alone", len(out.Last))
	}
	m := out.Last[0]
	p := messages.Partition(req.URL, s.bus.Layout.Partitions)
	if want := messages.SubjectResults(req.Crawl, p); m.Subject != want {
		s.t.Errorf("result on %s, want %s", m.Subject, want)
	}
	if got := m.Header.Get(nats.MsgIdHdr); got != req.ID() {
		s.t.Errorf("result has ID %q, want %q", got, req.ID())
	}
	var err error
	if h.Result, err = messages.DecodeResult(m.Data); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range slices.Concat(out.First, out.Then) {
		if messages.IsAnswer(m.Subject) {
			h.answers = append(h.answers, s.answer(m))
			continue
		}
		if m.Header.Get(messages.HeaderPage) == "" {
			if h.urls, err = messages.DecodeCandidates(m.Data); err != nil {
				s.t.Fatal(err)
			}
			continue
		}
		if h.page, err = messages.DecodePage(m.Header); err != nil {
			s.t.Fatal(err)
		}
		if want := messages.SubjectPages(req.Crawl, p); m.Subject != want {
			s.t.Errorf("page on %s, want %s", m.Subject, want)
		}
		h.body = s.body(h.page, m.Data)
	}
	if wantPage := h.Class == messages.OK; (h.page != nil) != wantPage {
		s.t.Errorf("class %s with page %v", h.Class, h.page)
	}
	if wantURLs := h.Class == messages.Redirect; (h.urls != nil) != wantURLs {
		s.t.Errorf("class %s with candidates %v", h.Class, h.urls)
	}
	return h
}

// answer decodes a response that is not a page.
func (s *fetcherFixture) answer(m *nats.Msg) answered {
	s.t.Helper()
	p, err := messages.DecodePage(m.Header)
	if err != nil {
		s.t.Fatal(err)
	}
	request, head, body, err := p.Split(m.Data)
	if err != nil {
		s.t.Fatal(err)
	}
	return answered{p, m.Header.Get(nats.MsgIdHdr), string(request), string(head), string(body)}
}

func (s *fetcherFixture) body(p *messages.Page, payload []byte) []byte {
	s.t.Helper()
	_, _, payload, err := p.Split(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	if p.BodyObject != "" {
		if len(payload) > 0 {
			s.t.Error("a body both in the message and in the object store")
		}
		objects, err := s.bus.JS.ObjectStore(context.Background(), messages.BucketBodies)
		if err != nil {
			s.t.Fatal(err)
		}
		if payload, err = objects.GetBytes(context.Background(), p.BodyObject); err != nil {
			s.t.Fatal(err)
		}
	}
	names, err := contentcoding.Parse([]string{p.BodyEncoding})
	if err != nil {
		s.t.Fatal(err)
	}
	z := contentcoding.NewReader(bytes.NewReader(payload), names, 0)
	defer func() { _ = z.Close() }()
	if payload, err = io.ReadAll(z); err != nil {
		s.t.Fatal(err)
	}
	if int64(len(payload)) != p.BodySize {
		s.t.Errorf("body of %d bytes, the page says %d", len(payload), p.BodySize)
	}
	return payload
}

// wants fails unless the result has the class, and an error text if one is required.
func (h handled) wants(t testing.TB, class messages.Class) {
	t.Helper()
	if h.Class != class {
		t.Fatalf("%s: class %s (%d %s), want %s", h.URL, h.Class, h.Status, h.Error, class)
	}
	switch class {
	case messages.OK, messages.NotModified, messages.Redirect, messages.RobotsFetched:
		if h.Error != "" {
			t.Errorf("%s: error %q with class %s", h.URL, h.Error, class)
		}
	default:
		if h.Error == "" {
			t.Errorf("%s: class %s without words for a person", h.URL, class)
		}
		t.Logf("%s: %s", class, h.Error)
	}
}

// spec returns the spec of the test crawl.
func (s *fetcherFixture) spec() crawlspec.Revision {
	s.t.Helper()
	r, err := s.specs.Get(context.Background(), testCrawl, 1)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}
