package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// exchanger fetches what an ask says. It is all that the stage wants of a way to
// fetch: a browser that renders would be another.
type exchanger interface {
	// do sends the request when its turn has come, and reads the response. It
	// returns an error only if ctx is done before the request could be sent, or
	// if what was fetched could not be stored; a ctx that is done later makes a
	// failure, which the caller must not believe.
	do(ctx context.Context, a *fetchRequest) (*fetchReply, error)
}

// fetchRequest is what an exchange is to be.
type fetchRequest struct {
	crawl   string        // whose cookies are sent
	url     string        // canonical
	plan    *accessPolicy // of the crawl: what is sent for the URL, and by which way
	delay   time.Duration // of the host
	timeout time.Duration
	maxBody int64
	// interval is the least time between the starts of two requests to the host.
	interval time.Duration
	// etag and lastModified make the request conditional, if they are set.
	etag, lastModified string
	// noResend is set where the host must see the request no more than once.
	noResend bool
	// stillValid, if set, is asked when the request is about to be sent: if it reports
	// false, the request is not sent, and the end is errStaleClaim.
	stillValid func() bool
	// archive keeps request and response as they went over the wire.
	archive bool
	// object is what a large body is stored as; "" keeps it in memory.
	object string
	// robots is set for a robots.txt: of any type, cut where it is too long, and
	// requested by a plain GET.
	robots bool
	// access is what do has made of plan and url: no other function sets it.
	access
}

// minSpacing is the least time from the start of a request to that of the next one
// to the host.
func (a *fetchRequest) minSpacing() time.Duration { return max(a.delay, a.interval) }

// withheld says which credentials are not sent, and what to do about it; "" if
// none are held back.
func (a *fetchRequest) withheld() string {
	if a.profile == nil || a.profile.withheld == nil {
		return ""
	}
	origin := weburl.Origin(a.url)
	inClear := ""
	if strings.HasPrefix(origin, "http:") {
		inClear = ", in the clear"
	}
	return fmt.Sprintf("%s of the source is not sent to %s: add %q to its hosts to have it sent there%s",
		strings.Join(a.profile.withheld, ", "), origin, origin, inClear)
}

// conditional reports whether the answer may be that nothing has changed.
func (a *fetchRequest) conditional() bool { return a.etag != "" || a.lastModified != "" }

// fetchReply is how an exchange ended.
type fetchReply struct {
	class       messages.Class
	text        string // what is not well, for a person
	detail      messages.Detail
	status      int
	header      http.Header
	contentType string // as it came, else as it looks
	body        body   // only if class is OK
	bytesWire   int64
	started     time.Time
	timings     messages.Timings
	ip          string
	protocol    string
	retryAfter  time.Duration
	// Validators as they came, and the digest of body.
	etag, lastModified, digest string
	// request and head are the exchange as it went over the wire, if that is to
	// be archived.
	request, head []byte
	// source is where the exchange that is archived went, which ip need not be: see asked.
	source string
	// answer is the body of what is no page, if that is to be archived: as it came, or
	// decoded if head says so. Truncated says why it is not whole, noted that the turn
	// has the answer already.
	answer    []byte
	truncated messages.Truncation
	noted     bool

	loan memoryReservation // of body; release when that is no longer used
}

// body is what came, as it will be kept.
type body struct {
	data     []byte // unless it is stored
	object   string // it is stored as, "" if it is not
	encoding string // of data or of what is stored
	size     int64  // decoded
}

func (r *fetchReply) failed(f *failure) { r.class, r.text, r.detail = f.class, f.text, f.detail }
