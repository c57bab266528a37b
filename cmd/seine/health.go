package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

type healthCmd struct {
	URL string `arg:"" optional:"" help:"What to ask." default:"http://127.0.0.1:9400/readyz"`
}

// Help is shown below the list of flags.
func (c *healthCmd) Help() string {
	return `Examples:

  seine health http://127.0.0.1:9400/readyz

Exit codes: 0 it is ready, 1 it is not, or does not answer.`
}

// Run asks a stage whether it is ready: the health check of a container whose
// image has no shell.
func (c *healthCmd) Run() error {
	client := &http.Client{Timeout: 3 * time.Second}
	resp, err := client.Get(c.URL)
	if err != nil {
		return fmt.Errorf("ask for health: %w (a stage says at its start where it serves it; --listen sets it)", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return fmt.Errorf("not ready: %s", strings.TrimSpace(string(why)))
	}
	return nil
}
