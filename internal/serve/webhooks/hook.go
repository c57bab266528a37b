package webhooks

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"seine/internal/base/lazyregexp"
	"seine/internal/fetch/netguard"
	"seine/pkg/crawlspec"
)

// Event is a kind of event.
type Event string

// Events.
const (
	CrawlEnded Event = "crawl.ended" // a run of a crawl has ended
	NewRecords Event = "records"     // a batch of records
)

// Hook is the configuration of a webhook, as it is stored.
type Hook struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Secret is the key of signatures.
	Secret string `json:"secret,omitempty"`
	// Old is the previous key, which also signs until OldUntil.
	Old      string    `json:"old_secret,omitempty"`
	OldUntil time.Time `json:"old_secret_until,omitzero" doc:"Until when posts are signed by the secret before, too."`
	Events   []Event   `json:"events"`
	// Crawl selects a crawl, Kind a kind of records; "" for all.
	Crawl string `json:"crawl,omitempty"`
	Kind  string `json:"kind,omitempty"`
	// Records is the maximum size of a batch, Seconds the maximum wait for it to fill.
	Records int       `json:"records"`
	Seconds int       `json:"seconds"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`
}

// Wants reports whether the webhook posts an event.
func (h *Hook) Wants(e Event) bool { return slices.Contains(h.Events, e) }

// covers reports whether the webhook posts events of a crawl.
func (h *Hook) covers(crawl string) bool { return h.Crawl == "" || h.Crawl == crawl }

// public returns the webhook without secrets.
func (h *Hook) public() Hook {
	p := *h
	p.Secret, p.Old, p.URL = "", "", crawlspec.WebhookOrigin(h.URL)
	return p
}

// hookName matches valid names, which are also names of files.
var hookName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Errors of Check.
var (
	errName = errors.New("name: must be 1 to 64 of a-z, 0-9, _ and -, and begin with a letter or digit")
	errURL  = errors.New("url: must be a URL with http:// or https:// and a host, without a user and a fragment")
)

// RefusedError is returned for an address that webhooks may not use.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Check validates a new webhook. A refused address is a RefusedError. Host names are resolved and
// checked at each post.
func (h *Hook) Check(allowPrivate bool) error {
	if !hookName().MatchString(h.Name) {
		return errName
	}
	u, err := url.Parse(h.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errURL
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil // a host name
	}
	if refused, ok := errors.AsType[*netguard.RefusedError](netguard.New(nil, allowPrivate).Check(addr)); ok {
		return &RefusedError{fmt.Sprintf("url: %s: %s; %s", refused.Addr, refused.Range, hint)}
	}
	return nil
}

// hint is advice for refused addresses.
const hint = "give a public address (seine serve --allow-private lets webhooks go to private ones)"

// State is the state of a webhook since the start of the server.
type State struct {
	Delivered int64     `json:"delivered" doc:"Posts that were taken since the server was started."`
	Last      time.Time `json:"last,omitzero" doc:"When the last one was taken."`
	Missed    uint64    `json:"missed,omitempty" doc:"Messages of RECORDS, of any crawl, that expired before they were delivered."`
	Failed    int64     `json:"failed,omitempty" doc:"Failed attempts since the server started."`
	Since     time.Time `json:"waiting_since,omitzero" doc:"When the oldest undelivered event became due; absent if nothing waits."`
	// Tries is the number of failed attempts of the current post, Error the last error, Next the
	// time of the next attempt.
	Tries int       `json:"tries,omitempty" doc:"How often the next post was tried in vain."`
	Error string    `json:"error,omitempty" doc:"Why."`
	Next  time.Time `json:"next_try,omitzero" doc:"When it is tried again."`
}

// Listed is a webhook with its state.
type Listed struct {
	Hook
	State
}
