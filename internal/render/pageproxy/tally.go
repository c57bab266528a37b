package pageproxy

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// Totals are the figures of a visit.
type Totals struct {
	// Main is the number of requests for the document of the page. 0 means that the browser did not
	// navigate to it.
	Main int
	// Requests is the number of requests sent to the web.
	Requests int
	// Bytes is the number of bytes of bodies and WebSocket data, in both directions, as on the
	// wire.
	Bytes int64
	// Failed is the number of Requests without a response from the web, or with a broken one.
	// Requests that the browser abandoned or that the end of the visit cut off do not count.
	Failed int
	// Refusals is the number of requests that were refused, or cut off by a limit.
	Refusals int
	// Problems are the reasons of refusals, failures and error statuses.
	Problems Problems
}

// tally counts the requests and bytes of a visit.
type tally struct {
	maxRequests int
	maxBytes    int64

	mu  sync.Mutex
	sum Totals
}

// reserve counts a request that is about to be sent, if the limits permit it.
func (t *tally) reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.maxRequests > 0 && t.sum.Requests >= t.maxRequests {
		return refusal(fmt.Sprintf("the page has reached its limit of %d requests (render.max_requests)", t.maxRequests))
	}
	if t.maxBytes > 0 && t.sum.Bytes >= t.maxBytes {
		return t.tooManyBytes()
	}
	t.sum.Requests++
	return nil
}

// count changes the totals.
func (t *tally) count(change func(sum *Totals)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.sum)
}

// unreserve uncounts a request that was not sent.
func (t *tally) unreserve() { t.count(func(sum *Totals) { sum.Requests-- }) }

// take counts n bytes, and returns how many of them may pass, with an error if that is not all.
func (t *tally) take(n int) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := t.maxBytes - t.sum.Bytes; t.maxBytes > 0 && int64(n) > left {
		t.sum.Bytes = t.maxBytes
		return int(left), t.tooManyBytes()
	}
	t.sum.Bytes += int64(n)
	return n, nil
}

func (t *tally) tooManyBytes() error {
	return refusal(fmt.Sprintf("the page has reached its limit of %d bytes (render.max_bytes)", t.maxBytes))
}

func (t *tally) refused(url, reason string) {
	t.count(func(sum *Totals) {
		sum.Refusals++
		sum.Problems.Add(reason, url)
	})
}

func (t *tally) failed(url string, err error) {
	t.count(func(sum *Totals) {
		sum.Failed++
		sum.Problems.Add("no response: "+err.Error(), url)
	})
}

func (t *tally) errorStatus(url string, status int) {
	t.count(func(sum *Totals) {
		sum.Problems.Add(fmt.Sprintf("the site answered %d %s", status, http.StatusText(status)), url)
	})
}

func (t *tally) main() { t.count(func(sum *Totals) { sum.Main++ }) }

func (t *tally) totals() Totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.sum
	sum.Problems = slices.Clone(sum.Problems)
	return sum
}
