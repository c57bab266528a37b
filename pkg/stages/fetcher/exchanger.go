package fetcher

import (
	"context"

	"seine/pkg/stages/fetcher/httpclient"
)

// exchanger sends a request and reads its response. A turn needs nothing else to fetch, so tests
// and other clients can replace the HTTP client.
type exchanger interface {
	Do(ctx context.Context, a *httpclient.Request) (*httpclient.Reply, error)
}

var _ exchanger = (*httpclient.Client)(nil)
