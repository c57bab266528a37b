package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"seine/internal/base/version"
	"seine/internal/run/config"
	"seine/internal/run/crawl"
)

// crawlOptions returns the options of `seine crawl` in the directory of the server, from the
// environment and from what the directory remembers of the output.
func (c *serveCmd) crawlOptions(name string) (crawl.Options, error) {
	var all struct {
		Crawl crawlCmd `cmd:""`
	}
	parser, err := config.New(&all, "seine", "", kong.Vars{"version": version.Line("seine")})
	if err != nil {
		return crawl.Options{}, fmt.Errorf("options of a crawl: %w", err)
	}
	args := []string{"crawl", "--data", c.data(), "--crawl", name}
	if c.Out != "" {
		args = append(args, "--out", c.Out)
	}
	if c.Secrets != "" {
		args = append(args, "--secrets", c.Secrets)
	}
	if _, err := config.Parse(parser, args); err != nil {
		return crawl.Options{}, fmt.Errorf("options of a crawl: %w", err)
	}
	return all.Crawl.options(nil)
}
