// Package webhook posts messages to webhooks. It restricts the addresses, and computes the wait
// between attempts. Callers keep the messages and their results.
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

// Durations of posts.
const (
	// Timeout bounds one attempt.
	Timeout = 10 * time.Second
	minWait = time.Second
	maxWait = 10 * time.Minute
)

// Wait returns the wait after a number of failed attempts: one second, doubled each time, up to 10
// minutes.
func Wait(tries int) time.Duration { return min(minWait<<min(max(tries-1, 0), 20), maxWait) }

// Message is a message to post.
type Message struct {
	URL string
	// Origin replaces the URL in errors, because the URL is often secret.
	Origin string
	// Header is sent in addition to Content-Type, which is JSON, and User-Agent.
	Header http.Header
	Body   []byte
	// AllowPrivate permits loopback and private addresses. Hint is advice for the error of a
	// refused address.
	AllowPrivate bool
	Hint         string
}

// Post posts a message. It returns nil if the receiver answers with 2xx. It follows no redirects,
// because the author of the URL chose the receiver. It uses no proxy, so that the check of
// addresses applies. Errors contain only the origin of the URL.
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
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // lets the receiver finish
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("post to %s: the receiver answers %d", m.Origin, resp.StatusCode)
	}
	return nil
}

// explain removes the URL from an error, and adds how to permit a refused address.
func (m *Message) explain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if r, ok := errors.AsType[*netguard.RefusedError](err); ok {
		return fmt.Errorf("refuse to dial %s: %s; %s", r.Addr, r.Range, m.Hint)
	}
	return err
}
