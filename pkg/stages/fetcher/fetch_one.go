package fetcher

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/weburl"
	"seine/internal/render"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// Fetched is the result of FetchOne.
type Fetched struct {
	Page messages.Page
	Body []byte // decoded
	// Via are the URLs that redirected, in the order of the requests.
	Via []string
	// Withheld describes the credentials of the spec that were not sent for the page, and the
	// reason; "" if all were sent.
	Withheld string
	// Sitemaps are the sitemaps named by robots.txt of the page's host.
	Sitemaps []string
	// NotRendered is why the page was not rendered although the spec may want it; Page.Rendered why
	// it was.
	NotRendered string
	// Cut is why a rendered page may be incomplete.
	Cut string
	// Actions are the outcomes of the spec's actions.
	Actions string
	// Screenshot (PNG) and PDF are those that the spec requests of a rendered page: of several
	// screenshots the last one.
	Screenshot, PDF []byte
}

// FetchError is why FetchOne has no page: the result that a crawl would have.
type FetchError struct {
	URL    string
	Class  messages.Class
	Status int // 0 if there was no response
	Reason string
}

// Error returns the URL and the reason, the HTTP status or the class.
func (e *FetchError) Error() string {
	reason := e.Reason
	if reason == "" && e.Status > 0 {
		reason = fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	}
	if reason == "" {
		reason = string(e.Class)
	}
	return e.URL + ": " + reason
}

// FetchOne fetches one canonical URL as a crawl with that spec would, outside of any crawl.
// Robots.txt, the address guard, access, types, limits and the host's delay apply. It follows
// redirects, and each target is requested in the same way. It renders the page in a browser if the
// spec wants it. It calls wait with each delay before it begins. If a crawl would not have fetched
// the page, the error is an *FetchError.
func FetchOne(ctx context.Context, cfg Config, browser render.Config, spec *crawlspec.Spec, url string, wait func(time.Duration)) (*Fetched, error) {
	cfg.Workers, cfg.MaxInFlightBody = 1, max(cfg.MaxInFlightBody, 2*spec.Largest().MaxBody)
	f, err := NewSingle(cfg, browser)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Fetch(ctx, spec, url, wait)
}

// Single fetches single URLs outside of any crawl, and reuses connections and robots.txt files. It
// is safe for concurrent use.
type Single struct {
	// Turn, if set, is called before a host is requested, including the hosts of redirects, and may
	// wait. The function that it returns is called afterwards with the delay of the host, by the
	// spec and robots.txt.
	Turn func(ctx context.Context, url string) (give func(rest time.Duration), err error)

	f       *Fetcher
	browser *render.Renderer
	jars    atomic.Uint64
}

// NewSingle returns a Single, which must be closed. It starts a browser for the first page to
// render.
func NewSingle(cfg Config, browser render.Config) (*Single, error) {
	log := slog.New(slog.DiscardHandler)
	f, err := newFetcher(cfg, nil, log)
	if err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	f.robots.bucket = noBucket{}
	s := &Single{f: f, browser: render.New(browser, log)}
	f.Render(s.browser, false)
	return s, nil
}

// Close closes the connections and the browser.
func (s *Single) Close() {
	s.browser.Close()
	s.f.client.Close()
}

// Fetch fetches one canonical URL, as FetchOne does. Cookies are not shared between calls.
func (s *Single) Fetch(ctx context.Context, spec *crawlspec.Spec, url string, wait func(time.Duration)) (*Fetched, error) {
	jar, out := fmt.Sprint(onceCrawl, " ", s.jars.Add(1)), &Fetched{}
	for {
		t := onceJob(spec, url)
		t.ask.CookieJar = jar
		if err := s.inTurn(ctx, t, wait); err != nil {
			return nil, err
		}
		r := t.reply
		t.release() // the data stays valid
		if t.robots != nil {
			out.Sitemaps = t.robots.Sitemaps()
		}
		switch r.Class {
		case messages.OK:
			out.Page, out.Body, out.Withheld = t.pageOf(r), r.Body.Data, t.ask.Policy.Withheld(t.ask.URL)
			out.Page.V = messages.Version
			out.NotRendered, out.Cut = t.rendered.whyNot, t.rendered.cut
			out.Actions, out.PDF = t.rendered.actions, t.rendered.pdf
			if n := len(t.rendered.screenshots); n > 0 {
				out.Screenshot = t.rendered.screenshots[n-1]
			}
			return out, nil
		case messages.Redirect:
		default:
			return nil, &FetchError{url, r.Class, r.Status, r.Text}
		}
		next, err := r.Target()
		if err != nil {
			return nil, &FetchError{url, messages.ClientError, r.Status, "redirect without a valid target: " + err.Error()}
		}
		most := spec.HostLimits(weburl.Hostname(next)).MaxRedirects
		if out.Via = append(out.Via, url); len(out.Via) > most {
			return nil, &FetchError{url, messages.Redirect, r.Status, fmt.Sprintf("more than %d redirects (max_redirects)", most)}
		}
		url = next
	}
}

// inTurn fetches when Turn allows it.
func (s *Single) inTurn(ctx context.Context, t *fetchJob, wait func(time.Duration)) error {
	if s.Turn == nil {
		return s.f.fetchWithRobots(ctx, t, wait)
	}
	give, err := s.Turn(ctx, t.ask.URL)
	if err != nil {
		return err
	}
	defer func() { give(t.hostDelay()) }()
	return s.f.fetchWithRobots(ctx, t, wait)
}

// onceCrawl is the crawl name under which FetchOne caches data of the spec.
const onceCrawl = "once"

// onceJob returns a job for a URL outside of any crawl.
func onceJob(spec *crawlspec.Spec, url string) *fetchJob {
	pace, _ := spec.HostPoliteness(weburl.Hostname(url))
	t := &fetchJob{
		req:  &messages.Request{Crawl: onceCrawl, URL: url, Delay: messages.Millis(pace.Delay)},
		spec: crawlspec.Revision{Spec: spec}, inline: messages.InlineBody,
		ask: httpclient.Request{CookieJar: onceCrawl, URL: url, Spacing: time.Duration(max(pace.Delay, crawlspec.Duration(pace.Rate)))},
	}
	t.bound()
	return t
}

// fetchWithRobots takes a turn, and another one if the first was used for robots.txt.
func (f *Fetcher) fetchWithRobots(ctx context.Context, t *fetchJob, wait func(time.Duration)) error {
	if f.lacks(t) {
		return nil
	}
	if err := f.fetch(ctx, t); err != nil || t.reply.Class != messages.RobotsFetched {
		return err
	}
	t.reply, t.ask.Spacing = nil, max(t.ask.Spacing, t.hostDelay())
	wait(t.ask.Spacing)
	return f.fetch(ctx, t)
}

// noBucket does not share robots.txt files.
type noBucket struct{}

func (noBucket) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	return nil, jetstream.ErrKeyNotFound
}
func (noBucket) Put(context.Context, string, []byte) (uint64, error) { return 1, nil }
func (noBucket) Create(context.Context, string, []byte, ...jetstream.KVCreateOpt) (uint64, error) {
	return 1, nil
}
func (noBucket) Update(context.Context, string, []byte, uint64) (uint64, error) { return 1, nil }

var _ bucket = noBucket{}
