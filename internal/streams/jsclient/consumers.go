package jsclient

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrConsumersSilent is returned for an incomplete list of consumers.
var ErrConsumersSilent = errors.New("some do not answer")

// Consumers returns all consumers of a stream, or an error. If a consumer's server does not answer,
// the response contains only its name, and the client's ListConsumers omits it silently (nats.go
// v1.55.0, found by the soak). A caller that takes the list for complete would believe that all
// messages were read.
func (c *Client) Consumers(ctx context.Context, stream string) (all []*jetstream.ConsumerInfo, err error) {
	for total := 1; len(all) < total; { // page by page
		var page struct {
			Error     *jetstream.APIError       `json:"error"`
			Total     int                       `json:"total"`
			Consumers []*jetstream.ConsumerInfo `json:"consumers"`
			Missing   []string                  `json:"missing"`
		}
		request := map[string]int{"offset": len(all)}
		if err = c.APIRequest(ctx, "CONSUMER.LIST."+stream, request, &page); err == nil && page.Error != nil {
			err = page.Error
		}
		if total = page.Total; err == nil && (len(page.Missing) > 0 || len(page.Consumers) == 0 && len(all) < total) {
			err = fmt.Errorf("%w: %s", ErrConsumersSilent, strings.Join(page.Missing, ", "))
		}
		if err != nil {
			return nil, fmt.Errorf("list consumers of stream %s: %w", stream, err)
		}
		all = append(all, page.Consumers...)
	}
	return all, nil
}
