package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"seine/bench/proc"
	"seine/internal/base/sleep"
)

// looks is how often memory is read while streams are open.
const looks = 10

// stream opens the streams, and prints what memory the server has before and in each tenth of their time.
func (o *options) stream(ctx context.Context, r *rig) error {
	before, _, err := proc.Memory(r.server.PID())
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	streams, ctx := errgroup.WithContext(ctx)
	var events atomic.Int64
	for range o.Streams {
		streams.Go(func() error {
			return listen(ctx, r.url+"/events", "event: stats", func() error { events.Add(1); return nil })
		})
	}
	var sizes []string
	for range looks {
		if err := sleep.For(ctx, o.StreamTime/looks); err != nil {
			return errors.Join(streams.Wait(), err)
		}
		rss, _, err := proc.Memory(r.server.PID())
		if err != nil {
			return err
		}
		sizes = append(sizes, fmt.Sprintf("%.0f", proc.MB(rss)))
	}
	end()
	if err := streams.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d streams open for %s, %d events: the server has %.0f MB before, and then %s\n",
		o.Streams, o.StreamTime, events.Load(), proc.MB(before), strings.Join(sizes, ", "))
	return nil
}

// listen calls do for each event of a kind in a stream, until ctx is done. That it ends before is an error.
func listen(ctx context.Context, url, event string, do func() error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReaderSize(resp.Body, 4<<10)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("a stream ended (%s): %w", resp.Status, err)
		case strings.HasPrefix(string(line), event):
			if err := do(); err != nil {
				return err
			}
		}
	}
}
