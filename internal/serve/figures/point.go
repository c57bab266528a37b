package figures

import (
	"seine/internal/ops/overview"
	"seine/pkg/messages"
)

// Group is a sort of answers: there are too many classes of requests to draw a line of each.
type Group int

// Groups of classes, as charts stack them.
const (
	OK          Group = iota // pages, and answers that a page is unchanged
	Redirects                // to another URL
	ClientError              // the host refuses, or has no such page
	ServerError              // the host fails
	Network                  // no whole answer came: names, connections, TLS, time
	Other                    // not asked, or not kept
	groups
)

// groupNames are those of groups, in the JSON of a chart.
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

// Point is how a crawl, or all of them, stood at a moment. Pages, Bytes and Answers have grown since
// the crawl began, or since the sampler did for all crawls; the others are counts of URLs at the moment.
type Point struct {
	At      int64 // Unix seconds
	Pages   int64
	Bytes   int64 // of bodies
	Answers [groups]int64
	Queued  int64 // and whatever else is still to be done
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

// grow adds what has come of a crawl between two looks. A crawl that has less than before was deleted and
// begun again: all that it has now is new.
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
