package fetcher

import (
	"fmt"

	"seine/internal/base/defaults"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/fetcher/httpclient"
)

// Config holds the options of an operator: how requests are made, and how many are pulled. The
// defaults are only in the tags.
type Config struct {
	httpclient.Config
	Prefetch int                `help:"Requests buffered in memory; at least one per four workers." default:"32"`
	Drain    crawlspec.Duration `help:"Time to finish in-flight requests after the first signal." default:"20s"`
}

// DefaultConfig returns the defaults of the tags.
func DefaultConfig() Config { return defaults.Of[Config]() }

// prefetch returns how many requests wait in memory. With fewer requests than the workers finish
// while NATS delivers more, workers would be idle: with 2,000 workers and hosts that answer in 200
// ms, 32 cost a sixth of the rate.
func (c Config) prefetch() int { return max(c.Prefetch, c.Workers/4) }

// Validate returns an error for the first invalid flag, with its valid values.
func (c Config) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	switch {
	case c.Prefetch < 0 || c.Prefetch > httpclient.MaxWorkers:
		return fmt.Errorf("prefetch %d: must be from 0 to %d", c.Prefetch, httpclient.MaxWorkers)
	case c.Drain < 0:
		return fmt.Errorf("drain %s: must not be negative", c.Drain)
	}
	return nil
}

// Memory returns the total memory of a fetcher: bodies, a connection with its buffers and
// goroutines for each worker, and the rest, mostly caches.
func (c Config) Memory() int64 {
	const worker, rest = 32 << 10, 64 << 20
	return int64(c.MaxInFlightBody) + int64(c.Workers)*worker + rest
}
