package crawl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/version"
	"seine/internal/output/bucket"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

// outputs manages the writers of a crawl and their commits.
type outputs struct{ *crawl }

// Names of additional writers beside the writer of records.
const (
	ArchiveName  = "archive"  // writes pages
	RequestsName = "requests" // writes results
)

// additionalWriters lists the additional writers: their input stream and the flag that enables each.
var additionalWriters = []struct{ name, stream, kind, flag, what string }{
	{ArchiveName, messages.StreamPages, "pages", "--warc", "the archive"},
	{RequestsName, messages.StreamResults, "results", "--log-requests", "the log of requests"},
}

// FlagOf returns the flag of seine crawl that sets the destination of a writer.
func FlagOf(w *writer.Config) string {
	for _, f := range additionalWriters {
		if f.name == w.Name {
			return f.flag
		}
	}
	return "--out"
}

// CheckPlaces reports that two writers have the same destination, or that one writes into the state
// directory data. One database may hold both records and results.
func CheckPlaces(data string, all ...writer.Config) error {
	used := make(map[string]string)
	for i := range all {
		w := &all[i]
		if writer.IsDatabase(w.Out) {
			continue
		}
		at, flag := strings.TrimRight(w.Out, "/"), FlagOf(w)
		if !bucket.Is(at) {
			at = filepath.Clean(at)
			if within(data, at) {
				return fmt.Errorf("%s %s: is in --data %s, which is for the state of the crawl: name a place outside of it", flag, w.Out, data)
			}
		}
		if other := used[at]; other != "" {
			return fmt.Errorf("%s %s: is already used for %s: name another directory", flag, w.Out, other)
		}
		used[at] = flag
	}
	return nil
}

// within reports whether path is folder or lies below it.
func within(folder, path string) bool {
	base, err := filepath.Abs(folder)
	abs, err2 := filepath.Abs(path)
	if err != nil || err2 != nil {
		return false
	}
	rel, err := filepath.Rel(base, abs)
	return err == nil && filepath.IsLocal(rel)
}

// Writers returns the configurations of all writers, that of the records first.
func (o *Options) Writers() []writer.Config { return append([]writer.Config{o.Writer}, o.More...) }

// check reports, before the stages start, that an output cannot be written or that its writer is
// bound to a different destination. bound is false for new streams, which have no bindings.
func (o outputs) check(ctx context.Context, bound bool) error {
	for _, w := range o.Writers() {
		if bound {
			err := w.CheckBinding(ctx, o.bus)
			if elsewhere, ok := errors.AsType[*writer.BoundError](err); ok {
				return errors.New(elsewhere.Of(FlagOf(&w), "this output of the crawl"))
			}
			if err != nil {
				return err
			}
		}
		if err := checkOut(&w); err != nil {
			return err
		}
	}
	return nil
}

// open creates the writers, each on its own connection.
func (o outputs) open(ctx context.Context, own []*stages.Bus) error {
	for i, cfg := range o.Writers() {
		w, err := writer.New(cfg, own[i])
		if err != nil {
			return err
		}
		o.Vitals.WaitsBy(w.Waiting)
		o.writers = append(o.writers, w)
	}
	if o.server != nil {
		return o.deleteUnused(ctx)
	}
	return nil
}

// deleteUnused deletes the consumers of additional writers that an earlier run had and this one has not.
// Without a reader they would retain messages until the stream is full and the crawl is stalled.
func (o outputs) deleteUnused(ctx context.Context) error {
	for _, w := range additionalWriters {
		if slices.ContainsFunc(o.More, func(cfg writer.Config) bool { return cfg.Name == w.name }) {
			continue
		}
		reserved := false
		for p := range o.bus.Layout.Partitions {
			name := messages.PartitionConsumer(messages.ConsumerWriter+"-"+w.name, w.kind, p).Durable
			err := o.bus.JS.DeleteConsumer(ctx, w.stream, name)
			switch {
			case errors.Is(err, jetstream.ErrConsumerNotFound):
			case err != nil:
				return fmt.Errorf("forget the writer %s: %w", w.name, err)
			default:
				reserved = true
			}
		}
		if reserved {
			o.Log.Warn("an output of earlier runs is not written, because its flag is missing; a later run with the flag writes the records that the streams still hold", "output", w.what, "flag", w.flag)
		}
	}
	return nil
}

// caughtUp reports whether the writers have read all messages.
func (o outputs) caughtUp(ctx context.Context) (bool, error) {
	for _, w := range o.writers {
		if done, err := w.CaughtUp(ctx); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

// markComplete records that a crawl has ended and that its writers have read everything.
func (o outputs) markComplete(crawl string) {
	for _, w := range o.writers {
		w.MarkComplete(crawl)
	}
}

// run runs the writers. Each starts after the previous one has locked its destination, so that of
// two crawls with the same destinations, one gets all of them. With an external server, another
// process may hold a destination indefinitely, so it does not wait.
func (o outputs) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range o.writers {
		g.Go(func() error { return w.Run(ctx) })
		if o.server == nil {
			continue
		}
		select {
		case <-w.Entered():
		case <-ctx.Done():
		}
	}
	return g.Wait()
}

// announce makes the stages discoverable, as separate processes are.
func (o outputs) announce(own []*stages.Bus) error {
	err := errors.Join(
		stages.Announce(o.bus, messages.StageFrontier, version.Number, ""),
		stages.Announce(own[0], messages.StageFetcher, version.Number, ""),
		stages.Announce(own[0], messages.StageRenderer, version.Number, ""),
		stages.Announce(own[1], messages.StageParser, version.Number, ""),
	)
	for i, w := range o.Writers() {
		err = errors.Join(err, stages.Announce(own[2+i], messages.StageWriter, version.Number, w.Name))
	}
	return err
}

// await waits until the writers have read everything or ctx is done.
func (o outputs) await(ctx, stages context.Context) error {
	for {
		done, err := o.caughtUp(stages)
		if err != nil && stages.Err() == nil {
			o.Log.Debug("cannot ask the writer", "error", err)
		}
		if done || ctx.Err() != nil || stages.Err() != nil {
			return nil
		}
		if err := o.fatalCondition(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-stages.Done():
		case <-time.After(settlePoll):
		}
	}
}
