package state

import (
	"bytes"
	"encoding/hex"

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
	host := append(pre[:len(pre):len(pre)], begin[:]...)
	from := host
	if about.After != "" {
		behind, err := keyAfter(pre, about.After)
		switch {
		case err != nil, bytes.Compare(behind, table.After(host)) >= 0:
			return page, err
		case bytes.Compare(behind, host) > 0:
			from = behind
		}
	}
	most := maxKnown
	if about.Top > 0 {
		most = min(most, about.Top)
	}
	scanned, text := 0, 0
	err = q.store.scan(host, from, func(key, value []byte) (bool, error) {
		// An unreadable record is skipped here, and quarantined when it is loaded.
		if r, err := decodeRecord(value); err == nil && weburl.Host(r.URL) == about.Host {
			page.URLs = append(page.URLs, frontierapi.KnownURL{URL: r.URL, State: r.State.String()})
			text += len(r.URL)
		}
		if scanned++; scanned == maxScanned || len(page.URLs) == most || text >= maxKnownText {
			page.Next = hex.EncodeToString(key[len(pre):])
			return false, nil
		}
		return true, nil
	})
	return page, err
}
