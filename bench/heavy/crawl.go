package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"seine/bench/fleet"
	"seine/bench/proc"
)

// result is what a crawl has cost, and what it did.
type result struct {
	build                       string
	pages, requests             int
	wall                        time.Duration
	cpu, webCPU                 float64 // seconds
	rss                         int64   // of the largest of its lives
	handshakes, resumed, killed int
	tooClose                    int
}

func (r result) String() string {
	return fmt.Sprintf("%s: %d pages, %d requests, %.1f s, %.2f ms of CPU a page, %.0f MB, %d handshakes (%d resumed), killed %d times, %d gaps below the delay",
		r.build, r.pages, r.requests, r.wall.Seconds(), 1000*r.cpu/float64(r.pages), float64(r.rss)/1e6, r.handshakes, r.resumed, r.killed, r.tooClose)
}

// crawl crawls a new web to its end, and compares the output with the log of the web.
func crawl(ctx context.Context, o options, bodies []body, work, build string) (r result, err error) {
	w, err := startWeb(o, bodies)
	if err != nil {
		return r, err
	}
	defer func() { _ = w.server.Close() }()
	dir, err := os.MkdirTemp(work, "run-")
	if err != nil {
		return r, fmt.Errorf("make run folder: %w", err)
	}
	c := &crawler{web: w, dir: dir, build: build}
	if err := c.prepare(); err != nil {
		return r, err
	}
	before, err := proc.CPU(os.Getpid())
	if err != nil {
		return r, err //nolint:wrapcheck // says all
	}
	start := time.Now()
	if r, err = c.run(ctx); err != nil {
		return r, err
	}
	r.wall = time.Since(start)
	after, err := proc.CPU(os.Getpid())
	if err != nil {
		return r, err //nolint:wrapcheck // says all
	}
	r.webCPU = after - before
	r.build, r.tooClose = build, w.tooClose()
	r.pages, r.requests = w.pages()
	r.handshakes, r.resumed = int(w.handshakes.Load()), int(w.resumed.Load())
	return r, c.check(r.pages)
}

// crawler is `seine crawl` of a web.
type crawler struct {
	web        *web
	dir, build string
}

// prepare writes the certificate and the spec.
func (c *crawler) prepare() error {
	if err := os.WriteFile(c.path("trust.pem"), c.web.certificate, 0o600); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	spec := []string{"delay: " + c.web.Delay.String(), "allow_private: true", "include: ['re:" + pathOfPages + `\d+$']`, "seeds:"}
	for host := range c.web.Hosts {
		spec = append(spec, "- "+c.web.url(host, 0))
	}
	if err := os.WriteFile(c.path("spec.yaml"), []byte(strings.Join(spec, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("write spec: %w", err)
	}
	return nil
}

func (c *crawler) path(name string) string { return filepath.Join(c.dir, name) }

// run lets the crawler live as often as the options say: killed when it has its share of the pages, and at last to its
// end.
func (c *crawler) run(ctx context.Context) (r result, err error) {
	for life := 0; life <= c.web.Kills; life++ {
		last := life == c.web.Kills
		if err := c.live(ctx, &r, c.web.Hosts*c.web.Pages*(life+1)/(c.web.Kills+1), last); err != nil {
			return r, err
		}
	}
	return r, nil
}

// live starts the crawler, and kills it when so many pages were sent, or waits for its end.
func (c *crawler) live(ctx context.Context, r *result, until int, last bool) error {
	args := []string{"crawl", "--spec", c.path("spec.yaml"), "--data", c.path("data"), "--out", fleet.Out(c.dir), "--quiet"}
	if last && c.web.Profile != "" {
		args = append(args, "--cpuprofile", c.web.Profile)
	}
	cmd := exec.CommandContext(ctx, c.build, args...) //nolint:gosec // the build to measure
	cmd.Env = append(os.Environ(), "SEINE_NATS_URL=", "SSL_CERT_FILE="+c.path("trust.pem"))
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start crawler: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			r.add(cmd)
			if err != nil {
				return fmt.Errorf("the crawler failed: %w\n%s", err, log.String())
			}
			return nil
		case <-look.C:
		}
		if pages, _ := c.web.pages(); !last && pages >= until {
			_ = cmd.Process.Kill()
			<-ended //nolint:errcheck // it was killed
			r.killed++
			r.add(cmd)
			return nil
		}
	}
}

// add adds what a process has cost that has ended.
func (r *result) add(cmd *exec.Cmd) {
	r.cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.rss = max(r.rss, ru.Maxrss<<10)
	}
}

// check reports pages that were sent and are not in the output, or not sent at all.
func (c *crawler) check(pages int) error {
	records, err := fleet.Records(fleet.Out(c.dir))
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	if all := c.web.Hosts * c.web.Pages; pages != all || records != all {
		return fmt.Errorf("of %d pages, %d were sent, and %d are in the output", all, pages, records)
	}
	return nil
}
