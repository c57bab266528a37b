package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/serve/caller"
	"seine/internal/serve/webhooks"
)

// webhookOperations are the operations on webhooks.
type webhookOperations struct{ *API }

func (w webhookOperations) registerWebhooks() {
	register(w.API, operation{
		method: http.MethodPost, path: "/webhooks", id: "create-webhook", tag: "webhooks", scope: caller.Write, status: http.StatusCreated, errors: []int{409},
		summary: "Create a webhook", about: "Receives ended runs and batches of records from now on. The response contains the signing secret, once. Records need the scope `records`, too.",
	}, w.createWebhook)
	register(w.API, operation{
		method: http.MethodGet, path: "/webhooks", id: "list-webhooks", tag: "webhooks", scope: caller.Write, errors: []int{409},
		summary: "Webhooks", about: "With their status; only the host of each URL is shown.",
	}, w.listWebhooks)
	register(w.API, operation{
		method: http.MethodPost, path: "/webhooks/{webhook}/secret", id: "rotate-webhook-secret", tag: "webhooks", scope: caller.Write, errors: []int{404, 409},
		summary: "Give a webhook another secret", about: "The answer has it, once. The one before signs too for the time of overlap.",
	}, w.rotateWebhook)
	register(w.API, operation{
		method: http.MethodDelete, path: "/webhooks/{webhook}", id: "delete-webhook", tag: "webhooks", scope: caller.Write, errors: []int{404, 409},
		summary: "End a webhook", about: "Events not delivered yet are dropped.",
	}, w.deleteWebhook)
}

// NewWebhook is a webhook to create.
type NewWebhook struct {
	Name   string           `json:"name" maxLength:"64" example:"pipeline"`
	URL    string           `json:"url" maxLength:"4096" format:"uri" doc:"Where to post to: http or https."`
	Events []webhooks.Event `json:"events,omitempty" doc:"Of what to tell; of all without it."`
	Crawl  string           `json:"crawl,omitempty" maxLength:"64" doc:"Crawl whose events are sent. It need not exist yet. Without it, all crawls."`
	Kind   string           `json:"kind,omitempty" maxLength:"64" doc:"The kind of records; all without it."`
	Batch  struct {
		Records int `json:"records,omitempty" minimum:"1" maximum:"1000" default:"100" doc:"Records of a post, at most."`
		Seconds int `json:"seconds,omitempty" minimum:"1" maximum:"300" default:"5" doc:"How long one that is not full waits for more."`
	} `json:"batch,omitempty"`
}

// Defaults of batches.
const (
	batchRecords = 100
	batchSeconds = 5
)

// Resolve implements huma.Resolver.
func (n *NewWebhook) Resolve(huma.Context) []error { return checkAnyCrawl(n.Crawl, "body.crawl") }

// Webhook is a created webhook.
type Webhook struct {
	Name   string           `json:"name"`
	Secret string           `json:"secret" doc:"The key of signatures: it is shown this once."`
	Events []webhooks.Event `json:"events" nullable:"false"`
	// OldUntil is until when posts are also signed with the previous secret.
	OldUntil time.Time `json:"old_secret_until,omitzero" doc:"Until when posts are signed by the secret before, too."`
}

// maxOverlap bounds how long a replaced secret stays valid.
const maxOverlap = 30 * 24 * time.Hour

func (w webhookOperations) createWebhook(ctx context.Context, in *struct{ Body NewWebhook }) (*body[Webhook], error) {
	who := caller.Of(ctx)
	h := webhooks.Hook{
		Name: in.Body.Name, URL: in.Body.URL, Events: in.Body.Events, Crawl: in.Body.Crawl, Kind: in.Body.Kind, By: who.Name,
		Records: cmp.Or(in.Body.Batch.Records, batchRecords), Seconds: cmp.Or(in.Body.Batch.Seconds, batchSeconds),
	}
	if len(h.Events) == 0 {
		h.Events = []webhooks.Event{webhooks.CrawlEnded, webhooks.NewRecords}
	}
	if err := w.checkWebhook(&who, &h); err != nil {
		return nil, err
	}
	made, err := w.Webhooks.Add(ctx, h)
	return answerOf(webhookOf(&made), err)
}

func webhookOf(h *webhooks.Hook) Webhook { return Webhook{h.Name, h.Secret, h.Events, h.OldUntil} }

func (w webhookOperations) rotateWebhook(_ context.Context, in *struct {
	Name    string `path:"webhook" maxLength:"64" doc:"Name of the webhook."`
	Overlap string `query:"overlap" default:"24h" maxLength:"32" doc:"For how long the secret before signs too, such as 1h; 0s if it has leaked."`
}) (*body[Webhook], error) {
	overlap, err := time.ParseDuration(in.Overlap)
	if err != nil || overlap < 0 || overlap > maxOverlap {
		return nil, problemf(http.StatusUnprocessableEntity, "overlap %q: must be from 0s to 720h, such as 24h", in.Overlap)
	}
	made, err := w.Webhooks.Rotate(in.Name, overlap)
	return answerOf(webhookOf(&made), err)
}

// checkWebhook rejects private addresses, and events that the caller may not read.
func (w webhookOperations) checkWebhook(who *caller.Caller, h *webhooks.Hook) error {
	err := h.Check(w.AllowPrivate)
	_, refused := errors.AsType[*webhooks.RefusedError](err)
	switch {
	case refused:
		return problemf(http.StatusForbidden, "%v", err)
	case err != nil:
		return problemf(http.StatusUnprocessableEntity, "%v", err)
	case h.Wants(webhooks.NewRecords) && !who.May(caller.Records):
		return problemf(http.StatusForbidden, "records: %s lacks the scope records: give \"events\": [\"crawl.ended\"], or use a token that has it", nameOf(who))
	}
	return nil
}

func (w webhookOperations) listWebhooks(context.Context, *struct{}) (*body[page[webhooks.Listed]], error) {
	all, err := w.Webhooks.List()
	return answerOf(pageOf(all, ""), err)
}

func (w webhookOperations) deleteWebhook(_ context.Context, in *struct {
	Name string `path:"webhook" maxLength:"64" doc:"Name of the webhook."`
}) (*struct{}, error) {
	return nil, w.Webhooks.Remove(in.Name)
}
