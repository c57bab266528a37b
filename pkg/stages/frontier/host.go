package frontier

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"seine/pkg/messages"
)

// host is what the frontier knows of one host, and its place in the schedule.
// The exported part is stored, so that politeness outlives the process.
type host struct {
	Next       int64          `json:"next,omitempty"`        // no request before, Unix ns
	CrawlDelay int64          `json:"crawl_delay,omitempty"` // of its robots.txt, ns
	Backoff    int64          `json:"backoff,omitempty"`     // after refusals in a row, ns
	Queued     map[string]int `json:"queued,omitempty"`      // URLs in its queue, by crawl
	Stats      hostStats      `json:"stats"`
	Due        int64          `json:"due,omitempty"` // its entry in the due index, 0 if it has none

	name     string
	inFlight int
	dirty    bool              // differs from the store
	ready    bool              // is in the shard's ready heap
	queues   map[string]*queue // windows on the queues, by crawl
}

// hostStats are what a summary tells of a host.
type hostStats struct {
	Requests int64 `json:"requests"`
	Pages    int64 `json:"pages"`
	Errors   int64 `json:"errors"`
	Bytes    int64 `json:"bytes"`
	Millis   int64 `json:"millis"` // of all requests together
}

// maxBackoff bounds how long a host that refuses is left alone, unless it asks
// for more by Retry-After.
const maxBackoff = int64(time.Hour)

// delay is the least time from the end of a response to the next request.
func (h *host) delay(spec *messages.Spec) int64 {
	d := int64(spec.Delay)
	if spec.Robots == messages.RobotsObey {
		d = max(d, h.CrawlDelay)
	}
	return d
}

// limit is how many requests may be under way at once.
func (h *host) limit(spec *messages.Spec) int {
	if h.delay(spec) > 0 || h.Backoff > 0 {
		return 1
	}
	return spec.PerHost
}

// crawls returns the crawls with queued URLs in a fixed order.
func (h *host) crawls() []string {
	cs := make([]string, 0, len(h.Queued))
	for c := range h.Queued {
		cs = append(cs, c)
	}
	slices.Sort(cs)
	return cs
}

// finished takes note of a request that ended.
func (h *host) finished(res *messages.Result) {
	h.Stats.Requests++
	h.Stats.Bytes += res.BytesWire
	h.Stats.Millis += time.Duration(res.Timings.Total).Milliseconds()
	switch {
	case res.Class == messages.OK:
		h.Stats.Pages++
	case res.Class.Retryable() && res.Class != messages.RobotsFetched:
		h.Stats.Errors++
	}
	if res.CrawlDelay != nil {
		h.CrawlDelay = int64(*res.CrawlDelay)
	}
}

// rest sets when the host may be asked again, after a response of this class
// that was known to have ended by now. The clock is the frontier's own: no
// agreement between machines is needed, at the cost of a message's latency.
func (h *host) rest(now int64, res *messages.Result, spec *messages.Spec, retryAfterCap int64) {
	d := h.delay(spec)
	switch {
	case res.Class == messages.Throttled:
		h.Backoff = min(maxBackoff, max(2*h.Backoff, d, int64(time.Second)))
		d = max(h.Backoff, min(int64(res.RetryAfter), retryAfterCap))
	case !res.Class.Retryable():
		h.Backoff = 0
	}
	h.Next = max(h.Next, now+d)
}

func decodeHost(name string, b []byte) (*host, error) {
	h := &host{name: name}
	if err := json.Unmarshal(b, h); err != nil {
		return nil, fmt.Errorf("read host %s: %w", name, err)
	}
	return h, nil
}
