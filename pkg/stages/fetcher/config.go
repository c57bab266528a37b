package fetcher

import (
	"fmt"

	"seine/internal/base/defaults"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/fetcher/httpclient"
)

// Config is what an operator chooses: how requests are made, and how many are taken.
// Defaults are in the tags only.
type Config struct {
	httpclient.Config
	Prefetch int                `help:"Requests buffered in memory; at least one per four workers." default:"32"`
	Drain    crawlspec.Duration `help:"Time to finish in-flight requests after the first signal." default:"20s"`
}

// DefaultConfig returns the defaults of the tags.
func DefaultConfig() Config { return defaults.Of[Config]() }

// prefetch is how many requests wait in memory. Fewer than the workers take while
// NATS brings more would let them stand idle: with 2,000 workers and hosts that
// answer in 200 ms, 32 cost a sixth of the rate.
func (c Config) prefetch() int { return max(c.Prefetch, c.Workers/4) }

// Validate names the first flag that is wrong, and what would be right.
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

// Memory is what a fetcher takes in all: bodies, a connection with its buffers and
// goroutines for each worker, and the rest, of which caches are the most.
func (c Config) Memory() int64 {
	const worker, rest = 32 << 10, 64 << 20
	return int64(c.MaxInFlightBody) + int64(c.Workers)*worker + rest
}
