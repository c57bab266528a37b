package messages

import (
	"errors"
	"fmt"
	"strconv"
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
	// Delay is the host's delay at the moment of sending, in milliseconds. Who
	// gets the request a second time waits it out first: the one who had it
	// before may have used it just now.
	Delay Millis `json:"delay_ms,omitempty"`
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

const maxMillis = int64(365 * 24 * time.Hour / time.Millisecond)

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
	return mustJSON(r)
}

// DecodeRequest reads a message on FETCH.
func DecodeRequest(payload []byte) (*Request, error) {
	var r Request
	if err := decode(payload, &r, &r.V); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	if err := checkVisited(r.Crawl, r.URL, r.Visit, r.Attempt); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	if err := checkDepth(r.Depth); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	if r.Redirects < 0 {
		return nil, errors.New("decode request: redirects must not be negative")
	}
	return &r, nil
}

// checkVisited checks what requests, results and pages have in common.
func checkVisited(crawl, url string, v Visit, attempt int) error {
	if err := CheckCrawl(crawl); err != nil {
		return err
	}
	switch {
	case url == "":
		return fmt.Errorf("url is missing")
	case HashURL(url) != v.URL || v.Round == 0:
		return fmt.Errorf("visit %s is not one of %s", v, Clip(url))
	case attempt < 1:
		return fmt.Errorf("attempt %d: must be from 1", attempt)
	}
	return nil
}
