package render

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"seine/internal/base/defaults"
	"seine/internal/base/weburl"
	"seine/internal/render/chromium"
	"seine/internal/render/pageproxy"
)

// Config is the operator's configuration of browsers. The defaults are in the tags.
type Config struct {
	Path  string `group:"rendering" name:"browser" help:"Chromium to render with (default: from PATH)."`
	Tabs  int    `group:"rendering" name:"browser-tabs" help:"Pages rendered concurrently." default:"4"`
	Pages int    `group:"rendering" name:"browser-pages" help:"Restart the browser after this many pages." default:"200"`
	Dir   string `group:"rendering" name:"browser-dir" help:"Directory for the browser's temporary files (default: the system's)."`
}

// Validate returns an error that names the first invalid flag and its valid values.
func (c Config) Validate() error {
	switch {
	case c.Tabs < 1 || c.Tabs > 100:
		return fmt.Errorf("browser-tabs %d: must be from 1 to 100", c.Tabs)
	case c.Pages < 1:
		return fmt.Errorf("browser-pages %d: must be at least 1", c.Pages)
	}
	return nil
}

// DefaultConfig returns the defaults from the tags.
func DefaultConfig() Config { return defaults.Of[Config]() }

// Renderer shows pages in a browser, up to Config.Tabs at a time. It is safe for concurrent use.
type Renderer struct {
	cfg      Config
	log      *slog.Logger
	path     string // of the browser
	identity *pageproxy.Identity
	slots    chan *slot

	refused refusals

	starting sync.Mutex
	mu       sync.Mutex
	browser  *sharedBrowser // nil until the first page
}

// slot holds one tab.
type slot struct {
	mu      sync.Mutex       // held during use
	proxy   *pageproxy.Proxy // of the tab
	tab     *tab             // nil if none is open
	resting *time.Timer      // until the tab leaves its page
}

// idleTab is the idle time after which a tab leaves its last page.
const idleTab = time.Second

// New returns a renderer, which starts a browser for the first page.
func New(cfg Config, log *slog.Logger) *Renderer {
	r := &Renderer{cfg: cfg, log: log, slots: make(chan *slot, cfg.Tabs)}
	for range cfg.Tabs {
		r.slots <- new(slot)
	}
	return r
}

// Check returns an error with advice if there is no browser.
func (c *Config) Check() error {
	_, err := chromium.Find(c.Path)
	return err
}

// Warm starts the browser in advance of the first page. If that fails, the first page returns the
// error.
func (r *Renderer) Warm(ctx context.Context) { _, _ = r.current(ctx) }

// Close ends the browser. No page may be shown afterwards.
func (r *Renderer) Close() {
	for len(r.slots) > 0 {
		s := <-r.slots
		s.mu.Lock()
		if s.resting != nil {
			s.resting.Stop()
		}
		s.leave(context.Background())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.browser != nil {
		r.browser.Close()
	}
}

// maxTries is the maximum number of times that a page is shown if its browser ends.
const maxTries = 3

// Render shows a page when a tab is free. It returns an *Error if the page cannot be shown.
func (r *Renderer) Render(ctx context.Context, job *Job) (*Page, error) {
	if err := r.refused.of(job); err != nil {
		return nil, err
	}
	var s *slot
	select {
	case s = <-r.slots:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer r.free(s)
	for try := 1; ; try++ {
		p, err := r.showIn(ctx, s, job)
		if err == nil || !errors.Is(err, errBrowserGone) {
			return p, err
		}
		s.leave(ctx)
		if try == maxTries {
			return nil, &Error{Crash, "the browser ended each time that it showed the page"}
		}
		r.log.Warn("the browser ended; starting another one", "url", job.Main.URL)
	}
}

// free releases a slot.
func (r *Renderer) free(s *slot) {
	s.mu.Unlock()
	if s.resting == nil {
		s.resting = time.AfterFunc(idleTab, s.rest)
	} else {
		s.resting.Reset(idleTab)
	}
	r.slots <- s
}

// rest makes the tab leave its page, unless the slot is in use again.
func (s *slot) rest() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if s.tab == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	if s.tab.browser.isRetired() || s.tab.rest(ctx) != nil {
		s.leave(ctx)
	}
}

// showIn shows a page in a slot. It reuses the slot's tab if that is of the same crawl and works.
func (r *Renderer) showIn(ctx context.Context, s *slot, job *Job) (*Page, error) {
	if err := r.tabFor(ctx, s, job); err != nil {
		return nil, err
	}
	s.tab.browser.count()
	s.tab.sentSecrets.Store(false)
	s.proxy.Begin(pageproxy.Visit{
		Main: job.Main, Follows: s.tab.shows != "", Transport: job.Transport, Allow: job.allow(), Record: s.tab.record(job), MaxRecorded: job.MaxRecorded,
		UserAgent: job.UserAgent, MaxRequests: job.How.MaxRequests, MaxBytes: int64(job.How.MaxBytes),
	})
	p, err := s.tab.showBehindLogin(ctx, s.proxy, job)
	totals := s.proxy.End()
	if err != nil {
		r.refused.note(job, err)
		s.leave(ctx) // it may be in any state
		return nil, err
	}
	if p.Totals.Main == 0 { // no links were clicked, which would have ended the visit before
		p.Totals = totals
	}
	p.addProblems(p.Totals.Problems)
	s.tab.shows = weburl.Origin(job.Main.URL)
	s.tab.giveCookies(ctx, job)
	if p.large || job.How.KeepsStorage() && s.tab.leavePage(ctx) != nil {
		s.leave(ctx)
	}
	return p, nil
}

// tabFor makes sure that the slot has a tab for the job.
func (r *Renderer) tabFor(ctx context.Context, s *slot, job *Job) error {
	if s.tab != nil && (s.tab.crawl != job.Crawl || s.tab.browser.isRetired() || s.tab.forget(ctx) != nil || s.tab.leaveForRoute(ctx, job) != nil) {
		s.leave(ctx)
	}
	if s.tab != nil {
		return nil
	}
	b, err := r.current(ctx)
	if err != nil {
		return err
	}
	proxy, err := pageproxy.Listen(r.identity, r.log)
	if err != nil {
		return err
	}
	b.enter()
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	t, err := openTab(ctx, b, proxy, job)
	if err == nil {
		s.tab, s.proxy = t, proxy
		return nil
	}
	_ = proxy.Close()
	b.leave()
	if ctx.Err() != nil || b.ended() {
		b.retire()
		return fmt.Errorf("%w: %w", errBrowserGone, err)
	}
	return err
}

// openTime is how long a browser may take to open a tab. On an overloaded machine that is as slow
// as a start, and replacing the browser would only add to the load.
const openTime = time.Minute

// leave closes the tab of a slot, and its proxy: pages that the browser has not ended yet must not
// send requests through the proxy of another tab.
func (s *slot) leave(ctx context.Context) {
	if s.tab == nil {
		return
	}
	s.tab.close(ctx)
	s.tab.browser.leave()
	_ = s.proxy.Close()
	s.tab, s.proxy = nil, nil
}

// current returns the browser for new tabs, and starts it if needed.
func (r *Renderer) current(ctx context.Context) (*sharedBrowser, error) {
	r.starting.Lock()
	defer r.starting.Unlock()
	r.mu.Lock()
	b := r.browser
	r.mu.Unlock()
	if b != nil && !b.isRetired() {
		return b, nil
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	b = &sharedBrowser{most: r.cfg.Pages}
	started, err := chromium.Start(ctx, chromium.Options{Path: r.path, Dir: r.cfg.Dir, SPKI: r.identity.SPKI(), Heard: b.heard})
	if err != nil {
		return nil, err
	}
	b.Browser = started
	b.watch()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.browser = b
	return b, nil
}

// prepare finds the browser, and creates the identity that the browser will trust.
func (r *Renderer) prepare() (err error) {
	if r.path, err = chromium.Find(r.cfg.Path); err != nil || r.identity != nil {
		return err
	}
	r.identity, err = pageproxy.NewIdentity()
	return err
}

// isPopup reports whether a target is a window that a page has opened.
func isPopup(info *target.Info) bool { return info.Type == "page" && info.OpenerID != "" }
