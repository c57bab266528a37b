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
	Attempt  int    `json:"attempt"` // from 1; counts how often this visit was sent
	Depth    int    `json:"depth"`
	Referrer string `json:"referrer,omitempty"`
	// Redirects is the number of consecutive redirects that led here.
	Redirects int `json:"redirects,omitempty"`
	// Delay is the host's delay when the request was sent, in milliseconds. A fetcher that receives
	// a redelivered request waits for the delay first: the previous fetcher may have just sent it.
	Delay Millis `json:"delay_ms,omitempty"`
	// Interval is the least time between the starts of two requests to the host, in milliseconds; 0
	// for none.
	Interval Millis `json:"interval_ms,omitempty"`
	// NoResend is set for a host that failed recently: the request must not reach it twice,
	// although HTTP clients resend when a connection breaks.
	NoResend bool `json:"no_resend,omitempty"`
	// Follow is set if redirects from the URL led back to it: the fetcher then follows redirects on
	// the URL's origin itself, since one fetcher may have to receive a cookie on the way and send
	// it back.
	Follow bool `json:"follow,omitempty"`
	// Run is the run of a scheduled crawl that the visit belongs to, 0 for the first; URLs found on
	// the page inherit it.
	Run int64 `json:"run,omitempty"`
	// ETag and LastModified are the validators of the last response, as received: they make the
	// request conditional.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// Digest is the start of the Digest of the previous visit, set if the spec asks for unchanged
	// pages.
	Digest string `json:"digest,omitempty"`
	// Recorded means that the page has records: a visit without records then makes a VisitRecord.
	Recorded bool `json:"recorded,omitempty"`
	// PageRound is the round of the visit that the validators are from. It is set if the frontier
	// has the links of that visit and this run needs them: an unchanged response then goes to all
	// partitions.
	PageRound uint64 `json:"page_round,omitempty"`
	// Metadata and Inherit are for the page and the URLs found on it: see Seed.
	Metadata Metadata `json:"metadata,omitempty"`
	Inherit  bool     `json:"inherit,omitempty"`
	// Sitemap marks a known sitemap: see Candidate.
	Sitemap bool `json:"sitemap,omitempty"`
	// Render means that the page may need a browser: the request is for renderers.
	Render bool `json:"render,omitempty"`
	// Epoch is the lease epoch of the frontier that sent the request.
	Epoch uint64 `json:"epoch,omitempty"`
}

// Millis is a duration that is encoded as whole milliseconds.
type Millis time.Duration

// MarshalJSON encodes the duration as a number.
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (m *Millis) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 || n > maxMillis {
		return fmt.Errorf("%s: want whole milliseconds, from 0", b)
	}
	*m = Millis(time.Duration(n) * time.Millisecond)
	return nil
}

// MaxMillis is the longest duration that can be encoded.
const MaxMillis = Millis(365 * 24 * time.Hour)

const maxMillis = int64(MaxMillis / Millis(time.Millisecond))

// ID returns the Nats-Msg-Id of the request and of its result. Each attempt has its own.
func (r *Request) ID() string { return attemptID(r.Crawl, r.Visit, r.Attempt) }

func attemptID(crawl string, v Visit, attempt int) string {
	return crawl + "." + v.String() + "." + strconv.Itoa(attempt)
}

// VisitID returns the Nats-Msg-Id of a message that a visit makes once, whatever the number of
// attempts.
func VisitID(crawl string, v Visit) string { return crawl + "." + v.String() }

// Encode returns the message's payload.
func (r *Request) Encode() []byte {
	r.V = Version
	return Encode(r)
}

// DecodeRequest decodes a message on FETCH.
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

// MaxValidator bounds an entity tag, in bytes: longer ones are not worth their space with every
// URL.
const MaxValidator = 256

// checkValidators checks values for the header of a request.
func checkValidators(vs ...string) error {
	for _, v := range vs {
		if len(v) > MaxValidator || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("validator %q: must be printable, of at most %d bytes", Clip(v), MaxValidator)
		}
	}
	return nil
}

// checkVisited checks the common fields of requests, results and pages.
func checkVisited(crawl, url string, v Visit, attempt int) error {
	return checkExchange(crawl, url, url, v, attempt)
}

// checkExchange checks the common fields of an exchange for a URL. Its visit must be one of
// visited, or of any URL if that is empty.
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
