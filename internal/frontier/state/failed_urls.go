package state

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

const (
	// maxFailed limits the URLs in one answer: with 2 KiB each and a reason they fit into a
	// message.
	maxFailed = 200
	// maxScanned limits the work for one answer to some 20 ms.
	maxScanned = 10_000
)

// FailedURLs answers OpFailed. URLs are ordered by hash, so consecutive pages contain each URL
// once, even if URLs fail meanwhile.
func (q *Questions) FailedURLs(about frontierapi.Query) (page frontierapi.FailedPage, err error) {
	pre := table.Name(table.Prefix(q.partition, kindFailed), about.Crawl)
	most := maxOfPage(about, maxFailed)
	page.Next, err = q.scanPage(pre, pre, about.After, func(hash messages.URLHash, _ []byte) (full bool, err error) {
		record, err := q.store.get(urlTable.At(q.partition, urlID{about.Crawl, hash}))
		if err != nil {
			return false, fmt.Errorf("read store: %w", err)
		}
		r, err := decodeRecord(record)
		if err != nil { // it is quarantined when it is loaded
			r = &urlRecord{}
		}
		if class := r.failedBy(); class != "" && (about.Class == "" || about.Class == class) {
			page.URLs = append(page.URLs, frontierapi.FailedURL{URL: r.URL, Class: class, Reason: r.Reason})
		}
		return len(page.URLs) == most, nil
	})
	return page, err
}

// maxOfPage returns the maximum number of URLs in an answer.
func maxOfPage(about frontierapi.Query, most int) int {
	if about.Top > 0 {
		return min(most, about.Top)
	}
	return most
}

// scanPage calls do for the URLs of a crawl, by the hashes that end their keys, within the part of
// the keys that begin with pre. It starts after the hash given in hexadecimal, unless that is "".
// When do reports that the answer is full, or maxScanned keys were scanned, it returns the hash
// after which the next answer begins.
func (q *Questions) scanPage(pre, part []byte, after string, do func(hash messages.URLHash, value []byte) (full bool, err error)) (next string, err error) {
	from := part
	if after != "" {
		last, err := hex.DecodeString(after)
		if err != nil || len(last) != len(messages.URLHash{}) {
			return "", fmt.Errorf("after %q: must be the cursor of the last response", messages.Clip(after))
		}
		if behind := append(append(pre[:len(pre):len(pre)], last...), 0); bytes.Compare(behind, from) > 0 {
			from = behind
		}
	}
	if bytes.Compare(from, table.After(part)) >= 0 {
		return "", nil
	}
	scanned := 0
	err = q.store.scan(part, from, func(key, value []byte) (bool, error) {
		hash, ok := hashAtEnd(key)
		full := false
		if ok {
			full, err = do(hash, value)
		}
		if scanned++; scanned == maxScanned || full {
			next = hash.String()
			return false, err
		}
		return true, err
	})
	return next, err
}

// failedBy returns the class by which the URL failed, "" if it did not.
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
