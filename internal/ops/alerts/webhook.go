package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"seine/internal/base/version"
	"seine/internal/fetch/netguard"
	"seine/internal/fetch/secrets"
	"seine/pkg/crawlspec"
)

// postTimeout bounds one try to post a change.
const postTimeout = 10 * time.Second

// Webhook posts changes.
type Webhook struct{ Secrets secrets.Store }

// Post posts a change to where the spec says, and returns nil if the receiver
// answered with 2xx. Redirects are not followed: whoever wrote the URL named where
// alerts go. A private address is dialled only if the spec allows it, and no proxy
// is asked to do it instead. The error has nothing of the URL but its host.
func (w *Webhook) Post(ctx context.Context, a *crawlspec.Alerts, c *Change) error {
	target, err := w.Secrets.Fill(a.Webhook)
	if err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode alert: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("post to %s: with its secrets it is no URL", crawlspec.WebhookOrigin(a.Webhook))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "seine/"+version.Number)
	req.Header.Set("Idempotency-Key", c.ID)
	dialer := &net.Dialer{Control: netguard.New(nil, a.AllowPrivate).Control}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("post to %s: %w", crawlspec.WebhookOrigin(a.Webhook), explain(err))
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the receiver can finish
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("post to %s: the receiver answers %d", crawlspec.WebhookOrigin(a.Webhook), resp.StatusCode)
	}
	return nil
}

// explain takes the URL out of an error, and says how a refused address is
// allowed.
func explain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if r, ok := errors.AsType[*netguard.RefusedError](err); ok {
		return fmt.Errorf("refuse to dial %s: %s; alerts: {allow_private: true} lets the webhook go to private addresses", r.Addr, r.Range)
	}
	return err
}
