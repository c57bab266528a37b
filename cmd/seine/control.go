package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/safeprint"
	"seine/internal/ops/steer"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// controlFlags are the flags that pause, resume and cancel share.
type controlFlags struct {
	connection
	crawlName
	Host string `help:"Apply to this host only, on all its ports." placeholder:"HOST"`
	New  bool   `help:"Accept a host that the crawl does not know yet."`
}

type pauseCmd struct {
	controlFlags
}

type resumeCmd struct {
	controlFlags
}

type cancelCmd struct {
	controlFlags
}

// Help is shown below the list of flags.
func (c *pauseCmd) Help() string {
	return `The frontier sends no more requests. In-flight requests finish, and the URLs they find are queued. The pause lasts until seine
resume, also over restarts.

  seine pause --crawl news
  seine pause --crawl news --host slow.example.org
  seine pause --crawl news --host later.example.org --new      # before the crawl finds its first URL`
}

// Run pauses.
func (c *pauseCmd) Run() error { return c.set(crawlspec.Paused, "is paused") }

// Help is shown below the list of flags.
func (c *resumeCmd) Help() string { return "Examples:\n\n  seine resume --crawl news" }

// Run resumes.
func (c *resumeCmd) Run() error { return c.set(crawlspec.Running, "is resumed") }

// Help is shown below the list of flags.
func (c *cancelCmd) Help() string {
	return `Excludes the queued URLs and all URLs found later, with the reason "cancelled". Fetched pages are kept.

  seine cancel --crawl news`
}

// Run cancels.
func (c *cancelCmd) Run() error { return c.set(crawlspec.Cancelled, "is cancelled") }

func (c *controlFlags) set(state crawlspec.RunState, word string) error {
	if err := c.check(); err != nil {
		return err
	}
	given := c.Host
	if c.Host != "" {
		if _, err := crawlspec.HostName(c.Host); err != nil {
			return usageError{fmt.Errorf("--host %w", err)}
		}
	} else if c.New {
		return usageError{errors.New("--new: permits an unknown host: name it with --host, or omit --new")}
	}
	return c.with("steer", func(ctx context.Context, bus *stages.Bus) error {
		if err := c.choose(ctx, bus); err != nil {
			return err
		}
		done, err := steer.Set(ctx, bus, steer.Order{Crawl: c.Name, Host: given, NewHost: c.New, State: state})
		if err != nil {
			return notFound(err, " (use --new for a host without URLs)")
		}
		what := "crawl " + c.Name
		if done.Host != "" {
			what += " at " + steer.Where(given)
		}
		next := ""
		if state == crawlspec.Running {
			next = c.next(c.Name, "continue it")
		}
		safeprint.Printf("%s %s (revision %d of its spec)%s\n", what, word, done.Rev, next)
		for _, s := range done.Stopped {
			safeprint.Printf("  %s stays %s: seine resume --crawl %s --host %s\n", strings.Join(s.Hosts, ", "), s.State, c.Name, s.Hosts[0])
		}
		return nil
	})
}
