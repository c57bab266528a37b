// Package lookup checks whether a crawl or a host of a name exists, before it is inspected or changed. Otherwise
// a misspelt name would get an empty answer, or stay in a spec.
package lookup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/suggest"
	"seine/internal/base/weburl"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// What there may be none of.
const (
	KindCrawl = "crawl"
	KindHost  = "host"
)

// NotFoundError says that a name does not exist.
type NotFoundError struct {
	Kind string // KindCrawl or KindHost
	Name string
	// Meant is the name that was meant, most likely; "" if none is like it.
	Meant string
	// Others are the crawls there are, sorted, or the slowest hosts.
	Others []string
}

// Error says what there is none of, and what was meant.
func (e *NotFoundError) Error() string {
	meant := ""
	if e.Meant != "" {
		meant = "; did you mean " + e.Meant + "?"
	}
	if e.Kind == KindHost {
		return fmt.Sprintf("host %s: no crawl has URLs of it%s", e.Name, meant)
	}
	return fmt.Sprintf("no crawl %s%s", e.Name, meant)
}

// Crawl returns a NotFoundError if there is no crawl of a name.
func Crawl(ctx context.Context, bus *stages.Bus, crawl string) error {
	// Nearly all have a spec: then nothing need be asked about the others, of which there may be many.
	if _, rev, err := bus.ReadKey(ctx, messages.BucketCrawls, crawl); err != nil || rev > 0 {
		return err
	}
	names, err := overview.Names(ctx, bus)
	if err != nil || slices.Contains(names, crawl) {
		return err
	}
	// One that got seeds without a spec, and of whose seeds the streams have none any more.
	if c, err := (frontierapi.Client{Bus: bus}).Status(ctx, crawl); err == nil && c.Known() > 0 {
		return nil
	}
	return &NotFoundError{Kind: KindCrawl, Name: crawl, Meant: suggest.Name(crawl, names), Others: names}
}

// Default returns the crawl that a command without a name reads: the default one or, if that does not exist, the only one.
func Default(ctx context.Context, bus *stages.Bus) (string, error) {
	err := Crawl(ctx, bus, messages.DefaultCrawl)
	if none, is := IsNotFound(err); is {
		if err = nil; len(none.Others) == 1 {
			return none.Others[0], nil
		}
	}
	return messages.DefaultCrawl, err
}

// Host returns what is known of a host; a NotFoundError if no frontier has ever wanted anything of it.
func Host(ctx context.Context, client frontierapi.Client, name string) (frontierapi.HostStatus, error) {
	h, err := client.Host(ctx, name)
	if err != nil || h.Requests > 0 || h.Queued+h.InFlight > 0 || h.Why != "" {
		return h, err
	}
	names := hostNames(ctx, client)
	return h, &NotFoundError{Kind: KindHost, Name: h.Host, Meant: suggest.Name(h.Host, names), Others: names}
}

// Hosts returns what Host does. If that does not exist and the name has no port, it returns the same name on all its ports.
func Hosts(ctx context.Context, client frontierapi.Client, name string) ([]frontierapi.HostStatus, error) {
	h, err := Host(ctx, client, name)
	none, is := IsNotFound(err)
	if !is {
		return []frontierapi.HostStatus{h}, err
	}
	var found []frontierapi.HostStatus
	for _, other := range none.Others {
		if withoutPort(other) != name {
			continue
		}
		if h, failed := Host(ctx, client, other); failed == nil {
			found, err = append(found, h), nil
		}
	}
	return found, err
}

// HostOf returns a NotFoundError for a host that neither a frontier nor the spec of a crawl knows: what it is
// said to do would wait in the spec for a host that never comes.
func HostOf(ctx context.Context, client frontierapi.Client, spec *crawlspec.Spec, given string) error {
	name, err := crawlspec.HostName(given)
	if err != nil || namesHost(spec, name) {
		return err
	}
	if strings.Contains(given, "://") {
		given = name
	}
	_, err = Host(ctx, client, given)
	// What the crawl wants of a host is so whatever the port; a frontier tells ports apart.
	if none, is := IsNotFound(err); is && slices.ContainsFunc(none.Others, func(host string) bool { return withoutPort(host) == name }) {
		return nil
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
func hostNames(ctx context.Context, client frontierapi.Client) (names []string) {
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

// IsNotFound returns the NotFoundError that err is, if it is one.
func IsNotFound(err error) (*NotFoundError, bool) { return errors.AsType[*NotFoundError](err) }
