package state

import (
	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

const (
	// maxKnown and maxKnownText limit the URLs of one answer, in number and in bytes: escaped as
	// JSON they fit into a message.
	maxKnown     = 300
	maxKnownText = 128 << 10
)

// URLsOfHost answers OpURLs with the URLs of a host known to a crawl. They are ordered by hash, so
// each is returned once, whatever happens between two questions. It reads only the keys of the
// host, since a hash begins with its host.
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
