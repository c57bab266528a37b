package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"seine/internal/base/suggest"
	"seine/internal/base/weburl"
	"seine/internal/ops/overview"
	"seine/internal/output"
	"seine/internal/run/replay"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// checkThere reports that there is no such crawl, and which there are. No name is
// every crawl.
func checkThere(ctx context.Context, bus *stages.Bus, crawl string) error {
	if crawl == "" {
		return nil
	}
	if err := messages.CheckCrawl(crawl); err != nil {
		return usageError{fmt.Errorf("--crawl: %w", err)}
	}
	names, err := overview.Names(ctx, bus)
	if err != nil || slices.Contains(names, crawl) {
		return err
	}
	// One that was fed without a spec, and of whose seeds the streams have none any more.
	client := frontierapi.Client{Bus: bus}
	if c, err := client.Status(ctx, crawl); err == nil && c.Known() > 0 {
		return nil
	}
	return usageError{fmt.Errorf("--crawl %s: there is no such crawl; %s", crawl, othersThan(crawl, names))}
}

// checkBeside refuses to begin a crawl beside others whose name may be a slip. The first
// crawl of a place has any name. Who may not look which crawls there are may give one that
// is theirs a spec all the same; the server ends a connection that asks for more than it
// may, so this looks over one of its own.
func (c *connection) checkBeside(ctx context.Context, bus *stages.Bus, crawl string) error {
	check := func(ctx context.Context, bus *stages.Bus) error {
		names, err := overview.Names(ctx, bus)
		if err != nil || len(names) == 0 {
			return err
		}
		return checkThere(ctx, bus, crawl)
	}
	if c.stored != "" { // which one command at a time has open, and may all of
		return withNew(check(ctx, bus))
	}
	err := c.withRunning("spec", check)
	if _, refused := errors.AsType[*stages.PermissionError](err); refused {
		return nil
	}
	return withNew(err)
}

// withNew adds to the refusal of an unknown crawl how to begin it.
func withNew(err error) error {
	if _, unknown := errors.AsType[usageError](err); unknown {
		return usageError{fmt.Errorf("%w (--new begins a crawl of that name)", err)}
	}
	return err
}

// checkReplayed refuses the name of a crawl of which the stream to be replayed has nothing, and
// that is in no list. A replay that has begun goes on: its crawl may have been deleted since.
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
	return usageError{fmt.Errorf("--crawl %s: there is no such crawl; %s", o.Choice.Crawl, othersThan(o.Choice.Crawl, names))}
}

// othersThan tells which crawls there are, that with the most similar name first.
func othersThan(crawl string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("there is none yet: seine spec apply begins one, or seine seed --crawl %s --new URL", crawl)
	}
	return listed(crawl, names)
}

// listed tells which names there are, of which there is at least one, the most similar first.
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
	return meant + "there are " + strings.Join(names, ", ") + more
}

// checkCommitted refuses the name of a crawl that nothing was committed of in a place: all of
// nothing would be right, and exported.
func checkCommitted(crawl, place string, there *output.Expected) error {
	names := there.Crawls()
	switch {
	case crawl == "" || slices.Contains(names, crawl):
		return nil
	case len(names) == 0:
		return usageError{fmt.Errorf("--crawl %s: %s has no files of any crawl", crawl, place)}
	}
	return usageError{fmt.Errorf("--crawl %s: %s has no files of it; %s", crawl, place, othersThan(crawl, names))}
}

// knownHost returns what is known of a host; an error if no frontier has ever wanted
// anything of it.
func knownHost(ctx context.Context, client *frontierapi.Client, name string) (frontierapi.HostStatus, error) {
	h, err := client.Host(ctx, name)
	if err != nil || h.Requests > 0 || h.Queued+h.InFlight > 0 || h.Why != "" {
		return h, err
	}
	meant := ""
	if near := suggest.Name(h.Host, hostNames(ctx, client)); near != "" {
		meant = "; did you mean " + near + "?"
	}
	return h, usageError{fmt.Errorf("host %s: no crawl has asked it for anything or is about to%s (seine hosts lists some)", h.Host, meant)}
}

// checkHost refuses a host that neither a frontier nor the spec of a crawl knows: what it is
// said to do would wait in the spec for a host that never comes.
func checkHost(ctx context.Context, client *frontierapi.Client, crawl, given string) error {
	_, spec, err := specOf(ctx, client.Bus, crawl)
	if err != nil {
		return err
	}
	name, err := crawlspec.HostName(given)
	if err != nil || namesHost(spec.Spec, name) {
		return err
	}
	if strings.Contains(given, "://") {
		given = name
	}
	if _, err = knownHost(ctx, client, given); err == nil {
		return nil
	}
	// What the crawl wants of a host is so whatever the port; a frontier tells ports apart.
	if slices.ContainsFunc(hostNames(ctx, client), func(host string) bool { return withoutPort(host) == name }) {
		return nil
	}
	if _, unknown := errors.AsType[usageError](err); unknown {
		return usageError{fmt.Errorf("%w (--new takes one all the same)", err)}
	}
	return err
}

// namesHost reports whether a spec has a source or a seed of a host.
func namesHost(spec *crawlspec.Spec, host string) bool {
	return slices.ContainsFunc(spec.Sources, func(s crawlspec.HostRule) bool { return slices.Contains(s.Hosts, host) }) ||
		slices.ContainsFunc(spec.SeedURLs(), func(url string) bool { return weburl.Hostname(url) == host })
}

// withoutPort is the name of a host as specs have it.
func withoutPort(host string) string {
	name, err := crawlspec.HostName(host)
	if err != nil {
		return host
	}
	return name
}

// hostNames are some of the hosts there are, for a hint: none if they cannot be had.
func hostNames(ctx context.Context, client *frontierapi.Client) (names []string) {
	const most = 1000
	hosts, err := client.Slowest(ctx, "", most)
	if err != nil {
		return nil
	}
	for _, h := range hosts {
		names = append(names, h.Host)
	}
	return names
}
