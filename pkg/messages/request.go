package messages

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Request is a message on FETCH: fetch this URL, once, now.
type Request struct {
	V        int    `json:"v"`
	Crawl    string `json:"crawl"`
	Rev      uint64 `json:"rev,omitempty"`
	URL      string `json:"url"`
	Visit    Visit  `json:"visit"`
	Attempt  int    `json:"attempt"` // from 1; counts the times this visit was sent
	Depth    int    `json:"depth"`
	Referrer string `json:"referrer,omitempty"`
	// Redirects counts the redirects in a row that led here.
	Redirects int `json:"redirects,omitempty"`
	// Delay is the host's delay at the moment of sending, in milliseconds. A
	// fetcher that gets a request again waits it out first: the fetcher that had it
	// before may have sent it just now.
	Delay Millis `json:"delay_ms,omitempty"`
	// Interval is the least time from the start of one request to the host to
	// that of the next, in milliseconds; 0 is none.
	Interval Millis `json:"interval_ms,omitempty"`
	// NoResend is set for a host that failed recently: the request must not reach it
	// twice, as HTTP clients send again when a connection breaks.
	NoResend bool `json:"no_resend,omitempty"`
	// Follow is set where redirects from the URL led back to it: the fetcher follows
	// those on the URL's origin itself, since it may have to be the same one that
	// gets a cookie on the way and sends it back.
	Follow bool `json:"follow,omitempty"`
	// Run is the run of a scheduled crawl that the visit belongs to, 0 for the
	// first; it is handed on to what is found on the page.
	Run int64 `json:"run,omitempty"`
	// ETag and LastModified are validators of the last response, as received:
	// the request is conditional on them.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// Digest is the start of the Digest of the visit before, set where the spec wants
	// to know of pages that have not changed.
	Digest string `json:"digest,omitempty"`
	// Recorded says that there are records of the page: a visit that makes none of it leaves
	// a VisitRecord.
	Recorded bool `json:"recorded,omitempty"`
	// PageRound is the round of the visit in which the page came that the validators
	// are of, set where the frontier has its links and this run needs them: an answer
	// that it is unchanged goes to all partitions.
	PageRound uint64 `json:"page_round,omitempty"`
	// Metadata and Inherit are for its page, and for what comes of that: see Seed.
	Metadata Metadata `json:"metadata,omitempty"`
	Inherit  bool     `json:"inherit,omitempty"`
	// Sitemap says that the URL is known for a sitemap: see Candidate.
	Sitemap bool `json:"sitemap,omitempty"`
	// Render says that the page may need a browser: the request is for renderers.
	Render bool `json:"render,omitempty"`
	// Epoch is that of the lease of the frontier that sent it.
	Epoch uint64 `json:"epoch,omitempty"`
}

// Millis is a duration that travels as whole milliseconds.
type Millis time.Duration

// MarshalJSON encodes the duration as a number.
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// UnmarshalJSON decodes what MarshalJSON wrote.
func (m *Millis) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 || n > maxMillis {
		return fmt.Errorf("%s: want whole milliseconds, from 0", b)
	}
	*m = Millis(time.Duration(n) * time.Millisecond)
	return nil
}

// MaxMillis is the longest time that travels.
const MaxMillis = Millis(365 * 24 * time.Hour)

const maxMillis = int64(MaxMillis / Millis(time.Millisecond))

// ID is the Nats-Msg-Id of the request, and of its result. A retry has another.
func (r *Request) ID() string { return attemptID(r.Crawl, r.Visit, r.Attempt) }

func attemptID(crawl string, v Visit, attempt int) string {
	return crawl + "." + v.String() + "." + strconv.Itoa(attempt)
}

// VisitID is the Nats-Msg-Id of what a visit leads to once, whatever the
// number of attempts.
func VisitID(crawl string, v Visit) string { return crawl + "." + v.String() }

// Encode returns the message's payload.
func (r *Request) Encode() []byte {
	r.V = Version
	return Encode(r)
}

// DecodeRequest reads a message on FETCH.
func DecodeRequest(payload []byte) (*Request, error) {
	r := new(Request)
	if err := cmp.Or(Decode(payload, r, &r.V), r.check()); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	return r, nil
}

func (r *Request) check() error {
	if r.Redirects < 0 || r.Run < 0 {
		return errors.New("redirects and run must not be negative")
	}
	return cmp.Or(checkVisited(r.Crawl, r.URL, r.Visit, r.Attempt), checkDepth(r.Depth),
		r.Metadata.Check(r.Inherit), checkValidators(r.ETag, r.LastModified))
}

// MaxValidator bounds an entity tag, in bytes: longer ones are not worth their
// place with every URL.
const MaxValidator = 256

// checkValidators checks what goes into the header of a request.
func checkValidators(vs ...string) error {
	for _, v := range vs {
		if len(v) > MaxValidator || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("validator %q: must be printable, of at most %d bytes", Clip(v), MaxValidator)
		}
	}
	return nil
}

// checkVisited checks what requests, results and pages have in common.
func checkVisited(crawl, url string, v Visit, attempt int) error {
	return checkExchange(crawl, url, url, v, attempt)
}

// checkExchange checks what an exchange for a URL says of its visit, which is one of
// visited, or of any if that is empty.
func checkExchange(crawl, url, visited string, v Visit, attempt int) error {
	if err := CheckCrawl(crawl); err != nil {
		return err
	}
	switch {
	case url == "":
		return fmt.Errorf("url is missing")
	case visited != "" && HashURL(visited) != v.URL || v.Round == 0:
		return fmt.Errorf("visit %s is not one of %s", v, Clip(url))
	case attempt < 1:
		return fmt.Errorf("attempt %d: must be from 1", attempt)
	}
	return nil
}
