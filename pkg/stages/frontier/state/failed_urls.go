package state

import (
	"encoding/hex"
	"fmt"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

const (
	// maxFailed bounds the URLs of one answer: with 2 KiB each and a reason they
	// stay below what a message may hold.
	maxFailed = 200
	// maxFailedScanned bounds the work of one answer to some 20 ms.
	maxFailedScanned = 10_000
)

// FailedURLs answers OpFailed: the URLs are in the order of their hash, so that
// each is told once, whatever happens between two questions.
func (s *Partition) FailedURLs(about frontierapi.Query) (page frontierapi.FailedPage, err error) {
	pre := named(prefix(s.partition, kindURL), about.Crawl)
	from := pre
	if about.After != "" {
		last, err := hex.DecodeString(about.After)
		if err != nil || len(last) != len(messages.URLHash{}) {
			return page, fmt.Errorf("after %q: must be what the last answer said is next", messages.Clip(about.After))
		}
		from = append(append(pre[:len(pre):len(pre)], last...), 0)
	}
	most := maxFailed
	if about.Top > 0 {
		most = min(most, about.Top)
	}
	scanned := 0
	err = s.store.scan(pre, from, func(key, value []byte) (bool, error) {
		r, err := decodeRecord(value)
		if err != nil {
			return true, nil // it is set aside when it is its turn
		}
		if class := r.failedBy(); class != "" && (about.Class == "" || about.Class == class) {
			page.URLs = append(page.URLs, frontierapi.FailedURL{URL: r.URL, Class: class, Reason: r.Reason})
		}
		if scanned++; scanned == maxFailedScanned || len(page.URLs) == most {
			page.Next = hex.EncodeToString(key[len(pre):])
			return false, nil
		}
		return true, nil
	})
	return page, err
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
