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

// outputs are the writers of a crawl, and what they have committed.
type outputs struct{ *crawl }

// Names of further writers, beside that of the records.
const (
	ArchiveName  = "archive"  // of pages
	RequestsName = "requests" // of results
)

// further are those that a run may have: what each reads, and the flag that asks for it.
var further = []struct{ name, stream, kind, flag, what string }{
	{ArchiveName, messages.StreamPages, "pages", "--warc", "the archive"},
	{RequestsName, messages.StreamResults, "results", "--log-requests", "the log of requests"},
}

// FlagOf is the flag of seine crawl that says where a writer writes.
func FlagOf(w *writer.Config) string {
	for _, f := range further {
		if f.name == w.Name {
			return f.flag
		}
	}
	return "--out"
}

// CheckPlaces reports that two writers have the same place, or one writes among the files
// of the crawl's state in data. A database has room for the records and the results beside
// each other.
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

// within reports whether a path is that of a folder, or below it.
func within(folder, path string) bool {
	base, err := filepath.Abs(folder)
	abs, err2 := filepath.Abs(path)
	if err != nil || err2 != nil {
		return false
	}
	rel, err := filepath.Rel(base, abs)
	return err == nil && filepath.IsLocal(rel)
}

// Writers are those of the crawl: that of the records, and those of More.
func (o *Options) Writers() []writer.Config { return append([]writer.Config{o.Writer}, o.More...) }

// check reports, before anything is started, that an output cannot be written, or
// is not what its writer is bound to, which none is where there are no streams yet.
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

// open makes the writers, each on a separate connection.
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
		return o.forget(ctx)
	}
	return nil
}

// forget ends what the further writers of an earlier run have reserved that this
// one has not: it would keep messages without a reader, until there is no room for more and the
// crawl is stalled.
func (o outputs) forget(ctx context.Context) error {
	for _, w := range further {
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

// caughtUp reports whether the writers have read all there is.
func (o outputs) caughtUp(ctx context.Context) (bool, error) {
	for _, w := range o.writers {
		if done, err := w.CaughtUp(ctx); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

// markComplete says that a crawl has ended, and that the writers have read all of it.
func (o outputs) markComplete(crawl string) {
	for _, w := range o.writers {
		w.MarkComplete(crawl)
	}
}

// run runs the writers. Each begins when the one before has its place: of two crawls that
// begin at one moment and write in the same places, one has them all. With a server elsewhere
// another process may have the place for as long as it lives.
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

// announce makes the stages discoverable, as if each were a process.
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

// await waits until the writers have everything, or ctx is done.
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
