package fetcher

import (
	"context"

	"seine/pkg/stages/fetcher/httpclient"
)

// exchanger fetches what a request says. It is all that a turn wants of a way to
// fetch: a browser that renders would be another.
type exchanger interface {
	Do(ctx context.Context, a *httpclient.Request) (*httpclient.Reply, error)
}

var _ exchanger = (*httpclient.Client)(nil)
