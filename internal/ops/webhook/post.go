// Package webhook posts to receivers that people have named: it guards where that may be, and says how long to
// wait before one that failed is tried again. What is posted, and what became of it, its callers keep.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"seine/internal/base/version"
	"seine/internal/fetch/netguard"
)

// Times of posts.
const (
	// Timeout bounds one try.
	Timeout = 10 * time.Second
	minWait = time.Second
	maxWait = 10 * time.Minute
)

// Wait is how long to wait after so many tries in vain: a second, and twice as long each time, up to 10 minutes.
func Wait(tries int) time.Duration { return min(minWait<<min(max(tries-1, 0), 20), maxWait) }

// Message is what is posted.
type Message struct {
	URL string
	// Origin is what errors say of the URL, which often is a secret.
	Origin string
	// Header is sent beside Content-Type, which is JSON, and User-Agent.
	Header http.Header
	Body   []byte
	// AllowPrivate lets it go to loopback and private addresses; Hint is what else the error says to do.
	AllowPrivate bool
	Hint         string
}

// Post returns nil if the receiver answered with 2xx. Redirects are not followed: the author of the URL named where
// it goes. No proxy is asked to dial an address that is refused. The error has nothing of the URL but its origin.
func Post(ctx context.Context, m *Message) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return fmt.Errorf("post to %s: not a URL", m.Origin)
	}
	for name, values := range m.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "seine/"+version.Number)
	dialer := &net.Dialer{Control: netguard.New(nil, m.AllowPrivate).Control}
	client := http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("post to %s: %w", m.Origin, m.explain(err))
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the receiver can finish
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("post to %s: the receiver answers %d", m.Origin, resp.StatusCode)
	}
	return nil
}

// explain takes the URL out of an error, and says how a refused address is allowed.
func (m *Message) explain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if r, ok := errors.AsType[*netguard.RefusedError](err); ok {
		return fmt.Errorf("refuse to dial %s: %s; %s", r.Addr, r.Range, m.Hint)
	}
	return err
}
