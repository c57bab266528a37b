// Package failures searches the failed URLs of a crawl, by host and by reason.
//
// It queries the frontiers page by page and stops after a number of URLs. If there are more, the
// result is marked as partial.
package failures

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Query selects failures. Empty fields select all.
type Query struct {
	Crawl string
	Class string // a class, frontierapi.ParseFailed or HostGivenUp
	Host  string // with its port, as in the URL
	Text  string // substring of the URL or the reason, case-insensitive
	// Look bounds the URLs that are examined, Keep the URLs that are returned.
	Look, Keep int
}

// Found is the result of a search.
type Found struct {
	URLs  []frontierapi.FailedURL // the first matches
	Hosts []Host                  // hosts of all matches, the most failures first
	// Matched is the number of matches among Looked examined URLs.
	Matched, Looked int
	// Partial is set if there are more URLs than were examined.
	Partial bool
}

// Host is a host with failures.
type Host struct {
	Name    string
	N       int
	Example frontierapi.FailedURL // the first failure
}

var errLimit = errors.New("enough was looked at")

// Find searches failures. Its errors are those of the frontiers.
func Find(ctx context.Context, bus *stages.Bus, q Query) (*Found, error) {
	found, hosts := new(Found), make(map[string]*Host)
	err := frontierapi.Client{Bus: bus}.Failed(ctx, q.Crawl, q.Class, func(u *frontierapi.FailedURL) error {
		if found.Looked == q.Look {
			found.Partial = true
			return errLimit
		}
		found.Looked++
		if host := weburl.Host(u.URL); q.matches(u, host) {
			found.add(u, host, hosts, q.Keep)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errLimit) {
		return nil, err
	}
	for _, h := range hosts {
		found.Hosts = append(found.Hosts, *h)
	}
	slices.SortFunc(found.Hosts, func(a, b Host) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return found, nil
}

func (q *Query) matches(u *frontierapi.FailedURL, host string) bool {
	if q.Host != "" && !strings.EqualFold(q.Host, host) {
		return false
	}
	text := strings.ToLower(q.Text)
	return strings.Contains(strings.ToLower(u.URL), text) || strings.Contains(strings.ToLower(u.Reason), text)
}

func (f *Found) add(u *frontierapi.FailedURL, host string, hosts map[string]*Host, keep int) {
	f.Matched++
	if len(f.URLs) < keep {
		f.URLs = append(f.URLs, *u)
	}
	h := hosts[host]
	if h == nil {
		h = &Host{Name: host, Example: *u}
		hosts[host] = h
	}
	h.N++
}
