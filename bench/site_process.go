package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// errNoSite means that the serving process does not do what it is asked.
var errNoSite = errors.New("the site does not answer")

// site is the bench's hold on the serving process.
type site struct {
	addresses
	process *exec.Cmd
	stdin   io.Closer
	client  *http.Client
}

// startSite starts this program again, as the site.
func startSite(ctx context.Context, o siteOptions) (*site, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	ctx = context.WithoutCancel(ctx)                   // close ends it, after the crawlers
	cmd := exec.CommandContext(ctx, self, o.args()...) //nolint:gosec // this program
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the bench
	cmd.WaitDelay = killAfter
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start site: %w", err)
	}
	s := &site{process: cmd, stdin: stdin, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	if err := json.NewDecoder(stdout).Decode(&s.addresses); err != nil {
		s.close()
		return nil, fmt.Errorf("%w: %w", errNoSite, err)
	}
	return s, nil
}

// close ends the serving process.
func (s *site) close() {
	_ = s.stdin.Close()
	kill := time.AfterFunc(killAfter, func() { _ = s.process.Process.Kill() })
	defer kill.Stop()
	_ = s.process.Wait()
}

// origin is the start of all its URLs.
func (s *site) origin() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	return u.Scheme + "://" + u.Host
}

func (s *site) reset(ctx context.Context) error {
	return s.ask(ctx, http.MethodPost, "/reset", nil)
}

func (s *site) stats(ctx context.Context) (stats, error) {
	var v stats
	err := s.ask(ctx, http.MethodGet, "/stats", &v)
	return v, err
}

// pages are the URIs of the HTML pages served, sorted.
func (s *site) pages(ctx context.Context) ([]string, error) {
	var v []string
	err := s.ask(ctx, http.MethodGet, "/pages", &v)
	return v, err
}

// ask decodes the answer into v, if there is one.
func (s *site) ask(ctx context.Context, method, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, method, s.Control+path, nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoSite, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errNoSite, resp.Status)
	}
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", errNoSite, err)
	}
	return nil
}
