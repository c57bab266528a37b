package parser

import (
	"fmt"
	"runtime"

	"seine/internal/base/defaults"
	"seine/pkg/crawlspec"
)

// Config is the configuration of a parser process. The defaults are in the tags.
type Config struct {
	Workers  int                `help:"Pages parsed concurrently; 0 uses two per processor." default:"0"`
	Prefetch int                `help:"Pages buffered in memory." default:"32"`
	MaxText  crawlspec.Bytes    `help:"Maximum text kept of a page." default:"512KiB"`
	MaxLinks int                `help:"Maximum links taken from a page." default:"10000"`
	Drain    crawlspec.Duration `help:"Time to finish in-flight work after the first signal." default:"20s"`
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config { return defaults.Of[Config]() }

// Validate returns an error for the first invalid option, with its valid values.
func (c *Config) Validate() error {
	switch {
	case c.Workers < 0 || c.Workers > 1024:
		return fmt.Errorf("--workers %d: must be from 0 to 1024", c.Workers)
	case c.Prefetch < 0 || c.Prefetch > 4096:
		return fmt.Errorf("--prefetch %d: must be from 0 to 4096", c.Prefetch)
	case c.MaxText < 0 || c.MaxText > maxText:
		return fmt.Errorf("--max-text %s: must be from 0B to %s, to fit a message", c.MaxText, crawlspec.Bytes(maxText))
	case c.MaxLinks < 1 || c.MaxLinks > 100_000:
		return fmt.Errorf("--max-links %d: must be from 1 to 100000", c.MaxLinks)
	}
	return nil
}

// maxText leaves space in a message of 1 MiB for the rest of a record.
const maxText = 768 << 10

// workers returns two workers per processor: while one waits for its acknowledgements, the other
// parses. Four were slower by a twentieth.
func (c *Config) workers() int {
	if c.Workers > 0 {
		return c.Workers
	}
	return 2 * runtime.GOMAXPROCS(0)
}
