package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Crawl is one crawl of a web of its own.
type Crawl struct {
	Name string
	Spec crawlspec.Spec
	Web  *testweb.Web

	server *testweb.Server
	seeds  []string
	ends   map[string]string // by URL: the state in which it must end
	pages  []string          // URLs that must be in the output, each once

	forbidden map[string]bool // by robots.txt, as host and path

	most    int64            // pages that were counted
	counted map[string]int64 // records that were checked, by output

	judging sync.Mutex
	judged  int // requests that were looked at
}

// NewCrawl is a crawl of a web that no crawl has seen, served by server. The home page of each of its hosts is a seed.
func NewCrawl(name string, spec crawlspec.Spec, web *testweb.Web, server *testweb.Server) *Crawl {
	c := &Crawl{Name: name, Spec: spec, Web: web, server: server, ends: make(map[string]string), forbidden: make(map[string]bool), counted: make(map[string]int64)}
	for h := range web.Hosts() {
		c.seeds = append(c.seeds, server.URL(h, "/"))
		c.expect(h, web.Pages(h), stateDone)
		c.expect(h, web.Disallowed(h), stateExcluded)
		c.expect(h, web.Missing(h), stateFailed)
		for _, path := range web.Disallowed(h) {
			c.forbidden[web.Name(h)+path] = true
		}
		for _, path := range web.Pages(h) {
			c.pages = append(c.pages, server.URL(h, path))
		}
	}
	return c
}

// Pages is how many pages must be in the output.
func (c *Crawl) Pages() int { return len(c.pages) }

// Close ends the server of the web.
func (c *Crawl) Close() { c.server.Close() }

// States in which a URL can end.
const (
	stateDone     = "done"
	stateFailed   = "failed"
	stateExcluded = "excluded"
)

func (c *Crawl) expect(host int, paths []string, state string) {
	for _, path := range paths {
		c.ends[c.server.URL(host, path)] = state
	}
}

// Feed stores the spec and publishes the seeds, again until both are acknowledged.
func (c *Crawl) Feed(ctx context.Context, bus *stages.Bus) error {
	return Insist(ctx, "feed "+c.Name, func(ctx context.Context) error {
		specs, err := stages.OpenSpecs(ctx, bus)
		if err != nil {
			return err
		}
		if _, err := specs.Put(ctx, c.Name, &c.Spec); err != nil {
			return err
		}
		m := &nats.Msg{Subject: messages.SubjectSeeds(c.Name), Data: []byte(strings.Join(c.seeds, "\n"))}
		return stages.NewPublisher(bus, "contract").Publish(ctx, m)
	})
}

// patience is how long a check asks for something that brokers or frontiers do not answer.
const patience = 3 * time.Minute

// Insist tries until it succeeds, or for as long as there is patience.
func Insist(ctx context.Context, what string, try func(context.Context) error) error {
	deadline := time.Now().Add(patience)
	for {
		attempt, cancel := context.WithTimeout(ctx, 15*time.Second)
		err := try(attempt)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx) // an interrupt
		case time.Now().After(deadline):
			return fmt.Errorf("%s: not within %s: %w", what, patience, err)
		}
		_ = sleep.For(ctx, 500*time.Millisecond)
	}
}

// ended asks whether the crawl is complete.
func (c *Crawl) ended(ctx context.Context, bus *stages.Bus) (bool, frontierapi.Counters) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	end, n, err := frontierapi.Client{Bus: bus}.CheckEnded(ctx, c.Name, &c.Spec)
	return err == nil && end == frontierapi.Complete, n.Counters
}

var errBehind = errors.New("the owner of its partition catches up")

// checkStates asks for the state of every URL of the web. Each must have ended as it should.
func (c *Crawl) checkStates(ctx context.Context, bus *stages.Bus, n frontierapi.Counters, t *Tally) error {
	if open := n.Pending(); open != 0 || n.Done < int64(len(c.pages)) {
		t.Violation("%s: complete with %d URLs open and %d done, of %d pages", c.Name, open, n.Done, len(c.pages))
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for url, want := range c.ends {
		g.Go(func() error {
			return Insist(gctx, "explain "+url, func(ctx context.Context) error {
				e, err := frontierapi.Client{Bus: bus}.Explain(ctx, c.Name, url)
				if err == nil && e.Behind {
					return errBehind
				}
				if err == nil && e.State != want {
					t.Violation("%s: %s is %q (%s %s), not %s", c.Name, url, e.State, e.Reason, e.Class, want)
				}
				return err
			})
		})
	}
	return g.Wait()
}

// checkRecords waits until an output has as many records as there are pages, and compares them.
func (c *Crawl) checkRecords(ctx context.Context, name string, p Output, t *Tally) error {
	var got found
	deadline := time.Now().Add(patience)
	for {
		var err error
		got, err = p.committed(name, c.Name)
		if err == nil && got.n >= int64(len(c.pages)) && len(compare(got.byURL, c.pages).lost) == 0 {
			break
		}
		if time.Now().After(deadline) {
			if err != nil {
				t.Violation("%s: the output %s cannot be read: %v", c.Name, name, err)
			}
			break
		}
		if sleep.For(ctx, time.Second) != nil {
			return context.Cause(ctx) // an interrupt
		}
	}
	c.counted[name] = got.n
	t.judgeRecords(c.Name+" in "+name, got, c.pages, name)
	return Insist(ctx, "verify the output "+name, func(ctx context.Context) error {
		bad, err := p.problems(ctx, name, c.Name, false)
		if err == nil {
			t.judgeFiles(c.Name+" in "+name, bad)
		}
		return err
	})
}

// judgeRecords takes note of what records lack and have too much of.
func (t *Tally) judgeRecords(where string, got found, pages []string, output string) {
	d := compare(got.byURL, pages)
	t.mu.Lock()
	t.lost += int64(len(d.lost))
	for _, u := range d.repeated {
		t.repeated += int64(got.byURL[u] - 1)
	}
	for _, n := range got.byURL {
		t.records[output] += int64(n)
	}
	t.mu.Unlock()
	for what, urls := range map[string][]string{"lost": d.lost, "repeated": d.repeated, "not of the web": d.strange, "of half a page": got.cut} {
		if len(urls) > 0 {
			t.Violation("%s: %d records are %s: %s", where, len(urls), what, strings.Join(urls[:min(3, len(urls))], " "))
		}
	}
}

// judgeAgain takes note of records that came after those of a complete crawl were counted, and of those that went.
func (t *Tally) judgeAgain(where string, more int64) {
	if more == 0 {
		return
	}
	t.mu.Lock()
	t.repeated += max(0, more)
	t.lost += max(0, -more)
	t.mu.Unlock()
	t.Violation("%s: %+d records since it was complete", where, more)
}

// judgeFiles takes note of files that are not what was committed.
func (t *Tally) judgeFiles(where string, bad []string) {
	for _, problem := range bad {
		t.Violation("%s: %s", where, problem)
	}
}

// CheckRequests looks at all requests so far; those that were looked at before count once.
func (c *Crawl) CheckRequests(t *Tally) {
	c.judging.Lock()
	defer c.judging.Unlock()
	requests := c.Web.Requests()
	t.judgeRequests(c.Name, requests, c.judged, time.Duration(c.Spec.Delay), c.forbidden)
	c.judged = len(requests)
}

// judgeRequests takes note of requests that came too early, beside others, or against robots.txt. Those before from are
// looked at for what comes after them only.
func (t *Tally) judgeRequests(where string, requests []testweb.Request, from int, delay time.Duration, forbidden map[string]bool) {
	p := requestGaps{smallest: noGap}
	if delay > 0 { // without one, several at a time are allowed
		p = paceOf(slices.Clone(requests), delay)
	}
	var against []string
	for _, r := range requests {
		if forbidden[r.Host+r.Path] {
			against = append(against, r.Host+r.Path)
		}
	}
	t.mu.Lock()
	t.requests += int64(len(requests) - from)
	t.smallest = min(t.smallest, p.smallest)
	var fresh []string
	for what, all := range map[string][]string{"early": p.early, "overlapping": p.overlapping, "against robots.txt": against} {
		for _, one := range all {
			if key := where + ": " + what + ": " + one; !t.told[key] {
				t.told[key] = true
				fresh = append(fresh, key)
				switch what {
				case "early":
					t.early++
				case "overlapping":
					t.overlapping++
				default:
					t.forbidden++
				}
			}
		}
	}
	t.mu.Unlock()
	for _, key := range fresh {
		t.Violation("%s", key)
	}
}
