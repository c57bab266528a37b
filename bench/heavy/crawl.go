package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seine/bench/fleet"
	"seine/bench/others"
	"seine/bench/proc"
)

// result is what a crawl has cost, and what it did.
type result struct {
	crawler, about      string
	pages, requests     int
	wall                time.Duration
	cpu, webCPU         float64 // seconds
	rss, stored         int64   // rss of the largest of its lives
	handshakes, resumed int
	leastGap            time.Duration
	tooClose            int
	stalled             bool
}

// crawl crawls a new web to its end, and compares the output with the log of the web.
func crawl(ctx context.Context, o options, bodies []body, work string, by others.Crawler) (r result, err error) {
	w, err := startWeb(o, bodies)
	if err != nil {
		return r, err
	}
	defer w.server.Close()
	dir, err := os.MkdirTemp(work, "run-")
	if err != nil {
		return r, fmt.Errorf("make run folder: %w", err)
	}
	c := &crawling{web: w, by: by, job: others.Job{
		Dirs: o.dirs(), List: filepath.Join(dir, "starts"), Dir: dir, Parallel: o.Hosts, Delay: o.Delay, Scope: scope,
	}}
	if err := c.prepare(); err != nil {
		return r, err
	}
	before, err := proc.CPU(os.Getpid())
	if err != nil {
		return r, err
	}
	start := time.Now()
	if r, err = c.run(ctx); err != nil {
		return r, err
	}
	r.wall = time.Since(start)
	after, err := proc.CPU(os.Getpid())
	if err != nil {
		return r, err
	}
	r.crawler, r.webCPU = by.Name(), after-before
	r.leastGap, r.tooClose = w.gaps()
	r.pages, r.requests = w.pages()
	r.handshakes, r.resumed = int(w.handshakes.Load()), int(w.resumed.Load())
	_, isSeine := by.(seine)
	if !isSeine {
		return r, nil // the table shows what it misses
	}
	return r, c.check(r.pages)
}

// crawling is the crawl of a web.
type crawling struct {
	web *web
	by  others.Crawler
	job others.Job
}

// prepare writes the certificate, the spec, and the same for others: the URLs to start at, and the addresses of hosts.
func (c *crawling) prepare() error {
	spec := []string{"delay: " + c.web.Delay.String(), "allow_private: true", "include: ['re:" + scope + "']", "seeds:"}
	addresses := []string{"127.0.0.1 localhost"}
	var starts []string
	for host := range c.web.Hosts {
		starts = append(starts, c.web.url(host, 0))
		spec = append(spec, "- "+c.web.url(host, 0))
		addresses = append(addresses, fmt.Sprintf("127.0.0.1 h%d.localhost", host))
	}
	var errs []error
	for name, lines := range map[string][]string{
		trustFile: {string(c.web.certificate)}, specFile: spec, "starts": starts, "hosts": addresses,
	} {
		errs = append(errs, os.WriteFile(c.job.Out(name), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	return errors.Join(errs...)
}

const trustFile, specFile = "trust.pem", "spec.yaml"

// seine is a build of Seine.
type seine struct{ name, path string }

// Name implements others.Crawler.
func (s seine) Name() string { return s.name }

// Prepare implements others.Crawler.
func (s seine) Prepare(context.Context, others.Dirs) (string, error) { return s.path, nil }

// Command implements others.Crawler.
func (s seine) Command(j others.Job) others.Command {
	out := fleet.Out(j.Dir)
	argv := []string{s.path, "crawl", "--spec", j.Out(specFile), "--data", j.Out("data"), "--out", out, "--quiet"}
	if j.Profile != "" {
		argv = append(argv, "--cpuprofile", j.Profile)
	}
	return others.Command{Argv: argv, Stored: out, About: "records with text, zstd"}
}

// run lets the crawler live as often as the options say: killed when it has its share of the pages, and at last to its
// end.
func (c *crawling) run(ctx context.Context) (r result, err error) {
	for life := 0; life <= c.web.Kills; life++ {
		last := life == c.web.Kills
		if err := c.live(ctx, &r, c.web.Hosts*c.web.Pages*(life+1)/(c.web.Kills+1), last); err != nil {
			return r, err
		}
	}
	return r, nil
}

// live starts the crawler, and kills it when so many pages were sent, or waits for its end.
func (c *crawling) live(ctx context.Context, r *result, until int, last bool) error {
	job := c.job
	if last {
		job.Profile = c.web.Profile
	}
	command := c.by.Command(job)
	argv := command.Argv
	if _, isSeine := c.by.(seine); !isSeine {
		argv = append(withHosts(c.job.Out("hosts")), argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the crawler to measure
	cmd.Dir, cmd.Env = command.Dir, append(os.Environ(), "SEINE_NATS_URL=", "SSL_CERT_FILE="+c.job.Out(trustFile))
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start crawler: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	used, busy := 0.0, time.Now()
	for {
		select {
		case err := <-ended:
			r.add(cmd)
			r.about, r.stored = command.About, proc.Size(command.Stored)
			if err != nil && !r.stalled && !slices.Contains(command.Okay, cmd.ProcessState.ExitCode()) {
				return fmt.Errorf("the crawler failed: %w\n%s", err, log.String())
			}
			return nil
		case <-look.C:
		}
		if _, peak, err := proc.Memory(cmd.Process.Pid); err == nil { // the kernel's own mark starts at this process's
			r.rss = max(r.rss, peak)
		}
		if cpu, err := proc.CPU(cmd.Process.Pid); err == nil && cpu > used+0.05 {
			used, busy = cpu, time.Now()
		}
		if time.Since(busy) > 3*c.web.Delay+slowness {
			r.stalled = true
			_ = cmd.Process.Kill()
		}
		if pages, _ := c.web.pages(); !last && pages >= until {
			_ = cmd.Process.Kill()
			<-ended //nolint:errcheck // it was killed
			r.add(cmd)
			return nil
		}
	}
}

// withHosts is a command that runs another one to which the names of a file are the system's. Seine knows by itself that
// names below localhost are of this machine; other crawlers ask the system.
func withHosts(file string) []string {
	return []string{"unshare", "--mount", "--map-root-user", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, file}
}

// add adds what a process has cost that has ended.
func (r *result) add(cmd *exec.Cmd) {
	r.cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// check reports pages that were sent and are not in the output, or not sent at all.
func (c *crawling) check(pages int) error {
	records, err := fleet.Records(fleet.Out(c.job.Dir))
	if err != nil {
		return err
	}
	if all := c.web.Hosts * c.web.Pages; pages != all || records != all {
		return fmt.Errorf("of %d pages, %d were sent, and %d are in the output", all, pages, records)
	}
	return nil
}
