package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// bare is a loop around net/http in a process of its own: it fetches, reads each body to its end, and does nothing
// else. Most that is written reads a body into memory, by io.ReadAll; no fetching can cost less than one that throws away
// what it reads.
type bare struct{ *child }

// got is how it fetched as many pages as it was told.
type got struct {
	Seconds float64
	Bytes   int64
	Error   string
}

func (b *bench) startBare(ctx context.Context, w *web, discard bool) (*bare, error) {
	dir := ""
	if len(w.paths) > 0 {
		dir = b.Dir
	}
	args := []string{commandGet, "-n", strconv.Itoa(b.Workers), "-discard=" + strconv.FormatBool(discard)}
	c, err := startChild(ctx, append(args, w.args(dir)...)...)
	return &bare{c}, err
}

// fetch has it fetch n pages.
func (b *bare) fetch(n int) (g got, err error) {
	if err := b.ask(n, &g); err != nil {
		return g, err
	}
	if g.Error != "" {
		return g, fmt.Errorf("the loop around net/http: %s", g.Error)
	}
	return g, nil
}

// get is the process.
func get(args []string) error {
	var t target
	f := flag.NewFlagSet(commandGet, flag.ContinueOnError)
	workers := f.Int("n", 1, "requests at a time")
	f.StringVar(&t.port, "port", "", "`port` of all hosts")
	f.IntVar(&t.hosts, "hosts", 0, "`number` of hosts")
	dir := f.String("dir", "", "`folder` of the files")
	discard := f.Bool("discard", false, "throw bodies away as they come")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	if *dir != "" {
		var err error
		if t.paths, err = htmlFiles(*dir); err != nil {
			return err
		}
	}
	var d net.Dialer
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		MaxIdleConnsPerHost: *workers, DisableCompression: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, "127.0.0.1:"+t.port) // as every name leads there
		},
	}}
	var next atomic.Int64
	return answerLines(func(n int) (any, error) {
		l := loop{client: client, target: &t, discard: *discard, end: next.Load() + int64(n), next: &next}
		return l.run(*workers), nil
	})
}

// loop fetches URLs from next to end.
type loop struct {
	client  *http.Client
	target  *target
	discard bool
	end     int64
	next    *atomic.Int64
	bytes   atomic.Int64
	failed  atomic.Pointer[error]
}

func (l *loop) run(workers int) (g got) {
	var wg sync.WaitGroup
	began := time.Now()
	for range workers {
		wg.Go(l.work)
	}
	wg.Wait()
	l.next.Store(l.end)
	g.Seconds, g.Bytes = time.Since(began).Seconds(), l.bytes.Load()
	if err := l.failed.Load(); err != nil {
		g.Error = (*err).Error()
	}
	return g
}

func (l *loop) work() {
	for l.failed.Load() == nil {
		i := l.next.Add(1) - 1
		if i >= l.end {
			return
		}
		if err := l.fetch(l.target.url(int(i))); err != nil {
			l.failed.Store(&err)
		}
	}
}

func (l *loop) fetch(url string) error {
	r, err := l.client.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	n := int64(0)
	if l.discard {
		n, err = io.Copy(io.Discard, r.Body)
	} else {
		var body []byte
		body, err = io.ReadAll(r.Body)
		n = int64(len(body))
	}
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, r.Status)
	}
	l.bytes.Add(n)
	return err
}
