package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"seine/internal/base/safeprint"
	"seine/internal/base/sleep"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/internal/run/config"
	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// connection is the connection of commands that inspect or control crawls.
type connection struct {
	connect.Operator `embed:""`

	stored string // directory of a crawl that is not running, if the command inspects it
}

// preferTyped makes --data or --nats on the command line take precedence over the other one in the
// environment or a configuration file. Both on the command line are an error, except for seine
// crawl, which has --data with any server.
func preferTyped(ctx *kong.Context) error {
	isNATS := func(f *kong.Flag) bool { return f.Name == "nats" || strings.HasPrefix(f.Name, "nats-") }
	isData := func(f *kong.Flag) bool { return f.Name == "data" && !f.HasDefault }
	typed := func(is func(*kong.Flag) bool) bool {
		return slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && !p.Resolved && is(p.Flag) })
	}
	data, server := len(config.Typed(ctx, "data")) > 0, typed(isNATS)
	ignored, because := []string(nil), "--data"
	switch {
	case data && !server:
		ignored = config.DropUntyped(ctx, isNATS)
	case server && !data:
		ignored, because = config.DropUntyped(ctx, isData), "the --nats flags"
	}
	if len(ignored) > 0 {
		safeprint.Fprintf(os.Stderr, "seine: %s: ignored because of %s\n", strings.Join(ignored, ", "), because)
	}
	return nil
}

// askTime limits one query of a cluster.
const askTime = 15 * time.Second

// with connects, and calls do with a context that ends with a signal. It opens the stored state of
// a crawl that is not running while do runs.
func (c *connection) with(name string, do func(ctx context.Context, bus *stages.Bus) error) error {
	err := c.withRunning(name, do)
	data := c.Stored()
	if data == "" || !errors.Is(err, connect.ErrNoCrawl) {
		return err
	}
	c.stored = data
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	return crawl.Open(ctx, data, slog.New(slog.DiscardHandler), do)
}

// endedEvery is how often a command that reads a running crawl checks that the crawl has not ended.
const endedEvery = 200 * time.Millisecond

// readOnly is with for commands that only read: if a crawl of --data ends meanwhile, they read its
// stored state.
func (c *connection) readOnly(name string, do func(ctx context.Context, bus *stages.Bus) error) error {
	data := c.Stored()
	if data == "" {
		return c.with(name, do)
	}
	err := c.with(name, func(ctx context.Context, bus *stages.Bus) error {
		if c.stored != "" {
			return do(ctx, bus)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			for connect.HasLocal(data) && sleep.For(ctx, endedEvery) == nil {
			}
			cancel()
		}()
		return do(ctx, bus)
	})
	if err != nil && c.stored == "" && !connect.HasLocal(data) {
		return c.with(name, do)
	}
	return err
}

// withRunning is with for queries that only running processes can answer.
func (c *connection) withRunning(name string, do func(ctx context.Context, bus *stages.Bus) error) error {
	return c.withServer(name, func(ctx context.Context, bus *stages.Bus) error { return c.joined(ctx, bus, do) })
}

// withServer is withRunning, for servers without the streams.
func (c *connection) withServer(name string, do func(ctx context.Context, bus *stages.Bus) error) error {
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return dialAnd(ctx, c.Dial, "seine-"+name, do)
}

// dialAnd connects with dial under a client name, and calls do with the connection.
func dialAnd(ctx context.Context, dial func(string, *slog.Logger) (*stages.Bus, error), name string, do func(context.Context, *stages.Bus) error) error {
	bus, err := dial(name, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer bus.Close()
	// The server does not answer a refused request, so the error would be a timeout without the
	// reason.
	ctx, cancel := bus.Refusals.CancelOnDenied(ctx)
	defer cancel()
	err = do(ctx, bus)
	if refused := bus.Refusals.Err(); refused != nil {
		return refused
	}
	return err
}

func (c *connection) joined(ctx context.Context, bus *stages.Bus, do func(ctx context.Context, bus *stages.Bus) error) error {
	joining, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := bus.Join(joining); err != nil {
		return fmt.Errorf("no Seine streams at %s (a frontier creates them when it starts): %w", bus.NC.ConnectedUrlRedacted(), err)
	}
	return do(ctx, bus)
}

// where returns the location of the crawls, for messages: several locations may have a crawl of the
// same name.
func (c *connection) where(bus *stages.Bus) string {
	if c.stored != "" {
		return "in " + c.stored
	}
	return "at " + bus.NC.ConnectedUrlRedacted()
}

// next returns the advice to run a stored crawl for a purpose such as "fetch them", "" if a process
// may be running it.
func (c *connection) next(crawl, what string) string {
	if c.stored == "" {
		return ""
	}
	command := "seine crawl --data " + c.stored
	if crawl != messages.DefaultCrawl {
		command += " --crawl " + crawl
	}
	return "; run " + command + " to " + what
}

// crawlName is the flag that names a crawl.
type crawlName struct {
	Name string `name:"crawl" help:"Name of the crawl." placeholder:"default"`
}

// check returns an error if the name cannot be a crawl's.
func (c *crawlName) check() error {
	if err := messages.CheckCrawl(cmp.Or(c.Name, messages.DefaultCrawl)); err != nil {
		return usageError{err}
	}
	return nil
}

// choose sets the name for a command without --crawl: the default crawl or, if that does not exist,
// the only one, which it prints.
func (c *crawlName) choose(ctx context.Context, bus *stages.Bus) error {
	return c.chooseBy(ctx, bus, nil)
}

// chooseBy is choose, but if knows is false for the default crawl, it takes the only other crawl
// for which it is true.
func (c *crawlName) chooseBy(ctx context.Context, bus *stages.Bus, knows func(crawl string) bool) (err error) {
	if c.Name != "" {
		return nil
	}
	if c.Name, err = lookup.Default(ctx, bus); err != nil {
		return err
	}
	if c.Name != messages.DefaultCrawl {
		safeprint.Fprintf(os.Stderr, "seine: there is no crawl default: using crawl %s, the only one\n", c.Name)
		return nil
	}
	if knows == nil || knows(c.Name) {
		return nil
	}
	names, err := overview.Names(ctx, bus)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == c.Name || !knows(name) })
	switch {
	case len(names) == 1:
		c.Name = names[0]
		safeprint.Fprintf(os.Stderr, "seine: using crawl %s\n", c.Name)
	case len(names) > 1:
		return usageError{fmt.Errorf("several crawls contain it: add --crawl and one of %s", strings.Join(names, ", "))}
	}
	return nil
}
