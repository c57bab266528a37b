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

// Run asks a stage whether it is ready: the health check of a container whose
// image has no shell.
func (c *healthCmd) Run() error {
	client := &http.Client{Timeout: 3 * time.Second}
	resp, err := client.Get(c.URL)
	if err != nil {
		return fmt.Errorf("ask for health: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return fmt.Errorf("not ready: %s", strings.TrimSpace(string(why)))
	}
	return nil
}
