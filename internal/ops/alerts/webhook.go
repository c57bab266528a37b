package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"seine/internal/fetch/secrets"
	"seine/internal/ops/webhook"
	"seine/pkg/crawlspec"
)

// Webhook posts changes to the webhooks of specs.
type Webhook struct{ Secrets secrets.Store }

// Post posts a change to the webhook of the spec. It returns nil if the receiver answers with 2xx.
// It connects to private addresses only if the spec permits that. The error contains only the host
// of the URL.
func (w *Webhook) Post(ctx context.Context, a *crawlspec.Alerts, c *Change) error {
	target, err := w.Secrets.Fill(a.Webhook)
	if err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode alert: %w", err)
	}
	return webhook.Post(ctx, &webhook.Message{
		URL: target, Origin: crawlspec.WebhookOrigin(a.Webhook), Header: http.Header{"Idempotency-Key": {c.ID}}, Body: text,
		AllowPrivate: a.AllowPrivate, Hint: "alerts: {allow_private: true} lets the webhook go to private addresses",
	})
}
