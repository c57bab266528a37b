package figures

import (
	"seine/internal/ops/overview"
	"seine/pkg/messages"
)

// Group is a group of request classes, because a chart cannot show a line for each class.
type Group int

// Groups of classes, in the order of the chart.
const (
	OK          Group = iota // pages, and responses that a page is unchanged
	Redirects                // to another URL
	ClientError              // the host rejects the request or has no such page
	ServerError              // the host fails
	Network                  // no complete response: names, connections, TLS, timeouts
	Other                    // not requested, or not kept
	groups
)

// groupNames are the names of the groups in the JSON of a chart.
var groupNames = [groups]string{"ok", "redirects", "client_errors", "server_errors", "network", "other"}

// groupOf returns the group of a class.
func groupOf(class messages.Class) Group {
	switch class {
	case messages.OK, messages.NotModified:
		return OK
	case messages.Redirect:
		return Redirects
	case messages.ClientError, messages.Gone, messages.Throttled, messages.Blocked:
		return ClientError
	case messages.ServerError:
		return ServerError
	case messages.DNSFailure, messages.ConnectFailure, messages.TLSFailure, messages.Timeout, messages.Stalled,
		messages.ProtocolError, messages.ProxyFailure:
		return Network
	default:
		return Other
	}
}

// Point is the state of one crawl or all at one time. Pages, Bytes and Answers count since the
// beginning of the crawl, or of the sampler for all crawls; the others are current numbers of URLs.
type Point struct {
	At      int64 // Unix seconds
	Pages   int64
	Bytes   int64 // of bodies
	Answers [groups]int64
	Queued  int64 // all pending URLs
	Done    int64
	Failed  int64
}

func pointOf(at int64, c *overview.Crawl) Point {
	p := Point{At: at, Pages: c.Pages, Bytes: c.BytesBody, Queued: c.Pending(), Done: c.Done, Failed: c.Failed}
	for class, n := range c.Attempts {
		p.Answers[groupOf(class)] += n
	}
	return p
}

// grow adds the increase of a crawl between two observations. If a crawl has less than before, it
// was deleted and re-created, so all it has is new.
func (p *Point) grow(was, now *Point) {
	if now.Pages < was.Pages || now.Bytes < was.Bytes {
		was = new(Point)
	}
	p.Pages += now.Pages - was.Pages
	p.Bytes += now.Bytes - was.Bytes
	for g := range p.Answers {
		p.Answers[g] += max(0, now.Answers[g]-was.Answers[g])
	}
}
