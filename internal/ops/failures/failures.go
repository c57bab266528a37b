// Package failures looks through the URLs of a crawl that failed, for a person who wants to know at which hosts
// and which URLs.
//
// It queries the frontiers page by page, and stops after so many URLs: of millions it lists the first ones, with a
// note.
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

// Query says which failures are looked for; what is empty chooses all.
type Query struct {
	Crawl string
	Class string // a class, frontierapi.ParseFailed or HostGivenUp
	Host  string // with its port, as in the URL
	Text  string // in the URL or the reason, whatever its capitals
	// Look bounds how many URLs are looked at, Keep how many are returned.
	Look, Keep int
}

// Found is what was found.
type Found struct {
	URLs  []frontierapi.FailedURL // the first that match
	Hosts []Host                  // of all that match, the most failures first
	// Matched of the URLs that were Looked at.
	Matched, Looked int
	// Partial says that there are more URLs than were looked at.
	Partial bool
}

// Host is a host with failures.
type Host struct {
	Name    string
	N       int
	Example frontierapi.FailedURL // the first of them
}

var errEnough = errors.New("enough was looked at")

// Find looks for failures. An error is that of the frontiers.
func Find(ctx context.Context, bus *stages.Bus, q Query) (*Found, error) {
	found, hosts := new(Found), make(map[string]*Host)
	err := frontierapi.Client{Bus: bus}.Failed(ctx, q.Crawl, q.Class, func(u *frontierapi.FailedURL) error {
		if found.Looked == q.Look {
			found.Partial = true
			return errEnough
		}
		found.Looked++
		if host := weburl.Host(u.URL); q.matches(u, host) {
			found.add(u, host, hosts, q.Keep)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
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
