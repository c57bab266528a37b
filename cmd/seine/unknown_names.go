package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"seine/internal/base/suggest"
	"seine/internal/ops/lookup"
	"seine/internal/ops/overview"
	"seine/internal/output"
	"seine/internal/run/replay"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// checkThere returns an error that lists the existing crawls if crawl does not exist. "" stands for
// all crawls.
func checkThere(ctx context.Context, bus *stages.Bus, crawl string) error {
	if crawl == "" {
		return nil
	}
	if err := messages.CheckCrawl(crawl); err != nil {
		return usageError{fmt.Errorf("--crawl: %w", err)}
	}
	return notFound(lookup.Crawl(ctx, bus, crawl), "")
}

// notFound converts the error for an unknown crawl or host to one that names the flag. forHost is a
// hint for hosts.
func notFound(err error, forHost string) error {
	none, is := lookup.IsNotFound(err)
	switch {
	case !is:
		return err
	case none.Kind == lookup.KindHost:
		return usageError{fmt.Errorf("%w (seine hosts lists some)%s", err, forHost)}
	}
	return usageError{fmt.Errorf("--crawl %s: no such crawl; %s", none.Name, othersThan(none.Name, none.Others))}
}

// checkBeside refuses to create a crawl beside others if the name may be a typing error. The first
// crawl may have any name.
func (c *connection) checkBeside(ctx context.Context, bus *stages.Bus, crawl string) error {
	return withNew(c.apart(ctx, bus, func(ctx context.Context, bus *stages.Bus) error {
		names, err := overview.Names(ctx, bus)
		if err != nil || len(names) == 0 {
			return err
		}
		return checkThere(ctx, bus, crawl)
	}))
}

// apart runs check over a separate connection. A user who may not list crawls may still add seeds
// or a spec to their crawl, but the server closes a connection that requests more than it may.
func (c *connection) apart(ctx context.Context, bus *stages.Bus, check func(context.Context, *stages.Bus) error) error {
	if c.stored != "" { // only one command at a time has it open, and may do everything
		return check(ctx, bus)
	}
	err := c.withRunning("spec", check)
	if _, refused := errors.AsType[*stages.PermissionError](err); refused {
		return nil
	}
	return err
}

// withNew adds to the error for an unknown crawl how to create it.
func withNew(err error) error {
	if _, unknown := errors.AsType[usageError](err); unknown {
		return usageError{fmt.Errorf("%w (--new starts a crawl of that name)", err)}
	}
	return err
}

// checkReplayed rejects a crawl that has no messages in the replayed stream and is not known
// otherwise. A replay that has begun continues: its crawl may have been deleted since.
func checkReplayed(ctx context.Context, o *replay.Options) error {
	if _, err := os.Stat(o.State); err == nil || o.Choice.Crawl == "" {
		return nil
	}
	names, err := overview.Names(ctx, o.Source)
	if err != nil || slices.Contains(names, o.Choice.Crawl) {
		return err
	}
	stored, err := overview.NamesIn(ctx, o.Source, o.Stream)
	if err != nil || slices.Contains(stored, o.Choice.Crawl) {
		return err
	}
	return usageError{fmt.Errorf("--crawl %s: no such crawl; %s", o.Choice.Crawl, othersThan(o.Choice.Crawl, names))}
}

// othersThan lists the existing crawls, the most similar name first.
func othersThan(crawl string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("no crawl exists yet: create one with seine spec apply or seine seed --crawl %s --new URL", crawl)
	}
	return listed(crawl, names)
}

// listed lists names, of which there must be at least one, after a suggestion of the most similar.
func listed(name string, names []string) string {
	const most = 10
	meant := ""
	if near := suggest.Name(name, names); near != "" {
		meant = "did you mean " + near + "? "
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	if len(names) == 1 {
		return meant + "there is " + names[0]
	}
	return meant + "there are " + strings.Join(names, ", ") + more
}

// checkCommitted rejects a crawl without committed files in an output: otherwise a check or an
// export of nothing would succeed.
func checkCommitted(crawl, place string, there *output.Expected) error {
	names := there.Crawls()
	switch {
	case crawl == "" || slices.Contains(names, crawl):
		return nil
	case len(names) == 0:
		return usageError{fmt.Errorf("--crawl %s: %s has no files of any crawl", crawl, place)}
	}
	return usageError{fmt.Errorf("--crawl %s: has no files in %s; %s", crawl, place, othersThan(crawl, names))}
}
