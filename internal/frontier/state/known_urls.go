package state

import (
	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

const (
	// maxKnown and maxKnownText bound the URLs of one answer, in number and in bytes: escaped as JSON they stay
	// below what a message may hold.
	maxKnown     = 300
	maxKnownText = 128 << 10
)

// URLsOfHost answers OpURLs: what a crawl knows of the URLs of a host, in the order of their hash, so that each is
// told once, whatever happens between two questions. It reads the keys of the host alone, since a hash begins with
// its host.
func (q *Questions) URLsOfHost(about frontierapi.Query) (page frontierapi.KnownPage, err error) {
	pre := table.Name(table.Prefix(q.partition, kindURL), about.Crawl)
	begin := messages.HashHost(about.Host)
	most, text := maxOfPage(about, maxKnown), 0
	page.Next, err = q.scanPage(pre, append(pre[:len(pre):len(pre)], begin[:]...), about.After, func(_ messages.URLHash, value []byte) (full bool, err error) {
		// An unreadable record is skipped here, and quarantined when it is loaded.
		if r, err := decodeRecord(value); err == nil && weburl.Host(r.URL) == about.Host {
			page.URLs = append(page.URLs, frontierapi.KnownURL{URL: r.URL, State: r.State.String()})
			text += len(r.URL)
		}
		return len(page.URLs) == most || text >= maxKnownText, nil
	})
	return page, err
}
