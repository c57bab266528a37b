package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// healthCommand is kong's name for the command.
const healthCommand = "health <url>"

type healthCmd struct {
	URL string `arg:"" optional:"" help:"Health endpoint: a URL or HOST:PORT." default:"http://127.0.0.1:9400/readyz"`
}

// Help is shown below the list of flags.
func (c *healthCmd) Help() string {
	return `Examples:

  seine health http://127.0.0.1:9400/readyz
  seine health 127.0.0.1:9400                   # the same

Exit codes: 0 ready, 1 not ready or not reachable, 2 wrong usage.`
}

// Run checks whether a stage is ready. It is the health check of a container whose image has no
// shell.
func (c *healthCmd) Run() error {
	address, err := readyURL(c.URL)
	if err != nil {
		return usageError{err}
	}
	client := &http.Client{Timeout: 3 * time.Second}
	resp, err := client.Get(address)
	if err != nil {
		return fmt.Errorf("request health: %w (a stage logs its address at the start; --listen sets it)", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return fmt.Errorf("not ready: %s", strings.TrimSpace(string(why)))
	}
	return nil
}

// readyURL returns the readiness endpoint for a URL or HOST:PORT.
func readyURL(text string) (string, error) {
	whole := text
	if !strings.Contains(text, "://") {
		whole = "http://" + text
	}
	u, err := url.Parse(whole)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q: must be HOST:PORT or a URL, such as 127.0.0.1:9400 or http://127.0.0.1:9400/readyz", text)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/readyz"
	}
	return u.String(), nil
}
