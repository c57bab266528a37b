// Package lookup checks whether a crawl or a host exists before it is inspected or changed.
// Otherwise a misspelt name would get an empty answer or stay in a spec.
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

// Values of NotFoundError.Kind.
const (
	KindCrawl = "crawl"
	KindHost  = "host"
)

// NotFoundError is returned for a name that does not exist.
type NotFoundError struct {
	Kind string // KindCrawl or KindHost
	Name string
	// Meant is the name that the user most likely meant; "" if none is similar.
	Meant string
	// Others lists the existing crawls, sorted, or the slowest hosts.
	Others []string
}

// Error names the missing crawl or host and the likely name.
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

// Crawl returns a NotFoundError if the crawl does not exist.
func Crawl(ctx context.Context, bus *stages.Bus, crawl string) error {
	// Nearly all crawls have a spec. Then the possibly many others need not be read.
	if _, rev, err := bus.ReadKey(ctx, messages.BucketCrawls, crawl); err != nil || rev > 0 {
		return err
	}
	names, err := overview.Names(ctx, bus)
	if err != nil || slices.Contains(names, crawl) {
		return err
	}
	// A crawl may have been seeded without a spec, and its seeds purged from the streams.
	if c, err := (frontierapi.Client{Bus: bus}).Status(ctx, crawl); err == nil && c.Known() > 0 {
		return nil
	}
	return &NotFoundError{Kind: KindCrawl, Name: crawl, Meant: suggest.Name(crawl, names), Others: names}
}

// Default returns the crawl for a command without a name: the default one or, if that does not
// exist, the only one.
func Default(ctx context.Context, bus *stages.Bus) (string, error) {
	err := Crawl(ctx, bus, messages.DefaultCrawl)
	if none, is := IsNotFound(err); is {
		if err = nil; len(none.Others) == 1 {
			return none.Others[0], nil
		}
	}
	return messages.DefaultCrawl, err
}

// Host returns the status of a host. It returns a NotFoundError if no frontier ever had a URL of
// it.
func Host(ctx context.Context, client frontierapi.Client, name string) (frontierapi.HostStatus, error) {
	h, err := client.Host(ctx, name)
	if err != nil || h.Requests > 0 || h.Queued+h.InFlight > 0 || h.Why != "" {
		return h, err
	}
	names := hostNames(ctx, client)
	return h, &NotFoundError{Kind: KindHost, Name: h.Host, Meant: suggest.Name(h.Host, names), Others: names}
}

// Hosts is like Host. If the host does not exist and the name has no port, it returns the hosts of
// that name with any port.
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

// HostOf returns a NotFoundError for a host that neither a frontier nor the spec of a crawl knows.
// A change for it would stay in the spec without effect.
func HostOf(ctx context.Context, client frontierapi.Client, spec *crawlspec.Spec, given string) error {
	name, err := crawlspec.HostName(given)
	if err != nil || namesHost(spec, name) {
		return err
	}
	if strings.Contains(given, "://") {
		given = name
	}
	_, err = Host(ctx, client, given)
	// Specs apply to all ports of a host, while a frontier distinguishes ports.
	if none, is := IsNotFound(err); is && slices.ContainsFunc(none.Others, func(host string) bool { return withoutPort(host) == name }) {
		return nil
	}
	return err
}

// namesHost reports whether a spec has a source or a seed for a host.
func namesHost(spec *crawlspec.Spec, host string) bool {
	return slices.ContainsFunc(spec.Sources, func(s crawlspec.HostRule) bool { return slices.Contains(s.Hosts, host) }) ||
		slices.ContainsFunc(spec.SeedURLs(), func(url string) bool { return weburl.Hostname(url) == host })
}

// withoutPort returns the name of a host as in specs.
func withoutPort(host string) string {
	name, err := crawlspec.HostName(host)
	if err != nil {
		return host
	}
	return name
}

// hostNames returns some known hosts for suggestions; none on an error.
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

// IsNotFound returns err as a NotFoundError, if it is one.
func IsNotFound(err error) (*NotFoundError, bool) { return errors.AsType[*NotFoundError](err) }
