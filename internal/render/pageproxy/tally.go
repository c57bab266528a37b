package pageproxy

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// Totals says what a visit did.
type Totals struct {
	// Main is how often the document of the page was asked for. 0 means that the
	// browser did not navigate to it.
	Main int
	// Requests is how many requests were sent to the web.
	Requests int
	// Bytes is how many bytes of bodies and WebSockets passed, both directions together,
	// as they are on the wire.
	Bytes int64
	// Failed is how many of Requests got no response from the web, or a broken one. What the browser gave up
	// does not count, nor what the end of the visit cut off.
	Failed int
	// Refusals is how many requests were refused, or cut off by a limit.
	Refusals int
	// Problems are why requests were refused, failed, or got the status of an error.
	Problems Problems
}

// tally counts what a visit does.
type tally struct {
	maxRequests int
	maxBytes    int64

	mu  sync.Mutex
	sum Totals
}

// reserve counts a request that is about to be sent, if the limits permit.
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

// unreserve takes back a request that was not sent.
func (t *tally) unreserve() { t.count(func(sum *Totals) { sum.Requests-- }) }

// take counts n bytes, and returns how many of them may pass; an error if that
// is not all.
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
