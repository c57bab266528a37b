package state

import (
	"encoding/hex"
	"fmt"

	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

const (
	// maxFailed bounds the URLs of one answer: with 2 KiB each and a reason they
	// stay below what a message may hold.
	maxFailed = 200
	// maxScanned bounds the work of one answer to some 20 ms.
	maxScanned = 10_000
)

// FailedURLs answers OpFailed: the URLs are in the order of their hash, so that
// pages that follow each other have each URL once, also if URLs fail meanwhile.
func (q *Questions) FailedURLs(about frontierapi.Query) (page frontierapi.FailedPage, err error) {
	pre := table.Name(table.Prefix(q.partition, kindFailed), about.Crawl)
	from := pre
	if about.After != "" {
		if from, err = keyAfter(pre, about.After); err != nil {
			return page, err
		}
	}
	most := maxFailed
	if about.Top > 0 {
		most = min(most, about.Top)
	}
	scanned := 0
	err = q.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		record, err := q.store.get(urlTable.At(q.partition, urlID{about.Crawl, messages.URLHash(key[len(pre):])}))
		if err != nil {
			return false, fmt.Errorf("read store: %w", err)
		}
		r, err := decodeRecord(record)
		if err != nil { // it is quarantined when it is its turn
			r = &urlRecord{}
		}
		if class := r.failedBy(); class != "" && (about.Class == "" || about.Class == class) {
			page.URLs = append(page.URLs, frontierapi.FailedURL{URL: r.URL, Class: class, Reason: r.Reason})
		}
		if scanned++; scanned == maxScanned || len(page.URLs) == most {
			page.Next = hex.EncodeToString(key[len(pre):])
			return false, nil
		}
		return true, nil
	})
	return page, err
}

// keyAfter returns the first key that may follow the one of a hash, which is in hexadecimal digits.
func keyAfter(pre []byte, hash string) ([]byte, error) {
	last, err := hex.DecodeString(hash)
	if err != nil || len(last) != len(messages.URLHash{}) {
		return nil, fmt.Errorf("after %q: must be what the last answer said is next", messages.Clip(hash))
	}
	return append(append(pre[:len(pre):len(pre)], last...), 0), nil
}

// failedBy is what the URL failed by, "" if it did not.
func (r *urlRecord) failedBy() string {
	switch {
	case r.State != Failed:
		return ""
	case r.Reason == reasonGivenUp:
		return frontierapi.HostGivenUp
	case r.Class == messages.OK:
		return frontierapi.ParseFailed
	}
	return string(r.Class)
}
