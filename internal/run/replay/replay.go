package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/base/stateencryption"
	"seine/internal/run/stagegroup"
	"seine/internal/run/works"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

// Options configure a replay.
type Options struct {
	Source *stages.Bus // of the crawl, joined; only read
	Stream string      // messages.StreamPages or StreamRecords
	Choice Selection
	// Spec is the spec to parse pages with; nil for each crawl's own spec.
	Spec   *crawlspec.Spec
	Parser parser.Config
	// Writer is the destination of the records; Run sets its name and state. If it is nil, the
	// records go back to the crawl as a new generation with the name Generation; "" generates a
	// name.
	Writer     *writer.Config
	Generation string
	// Beyond permits records with fields that the spec of their crawl lacks.
	Beyond bool
	// State is the directory of the replay, from which it continues after a kill.
	State string
	// Key encrypts the scratch streams, like those of the crawl; nil for none.
	Key *stateencryption.Key
	// Ends is set if the server of Source may end for good, as the server of `seine crawl` does
	// with the crawl. Run then returns ErrSourceGone; otherwise it waits for the server.
	Ends bool
	// Progress, if set, is called a few times a second.
	Progress func(Progress)
	Log      *slog.Logger
}

// WriterName is the name of a replay's writer in the commit log of a destination.
const WriterName = "replay"

// Progress is the progress of a replay.
type Progress struct {
	Stream      string        `json:"-"`
	Elapsed     time.Duration `json:"-"`
	Done        int64         `json:"done" doc:"Messages that are read and done with."` // pages, or messages with one or more records
	Chosen      int64         `json:"chosen,omitempty" doc:"Of so many; absent while that is not known."`
	PerSecond   float64       `json:"per_second"` // in this run
	Records     int64         `json:"records"`    // committed, or sent back
	DeadLetters int64         `json:"dead_letters"`
	SecondsLeft float64       `json:"seconds_left,omitempty" doc:"At this rate; absent if that is not known."`
	FirstSeq    uint64        `json:"-"` // first sequence of the stream when the replay began
	FirstTime   time.Time     `json:"-"`
}

// Run replays until all selected messages are committed, or ctx is done. If the replay has begun,
// it returns a report even with an error.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Writer != nil {
		cfg := *o.Writer
		cfg.Name, cfg.From, cfg.State = WriterName, "records", writerDir(o.State)
		o.Writer = &cfg
	}
	if o.Writer != nil {
		return runAlone(ctx, o)
	}
	err = works.Do(ctx, o.Source, works.Replay, func(ctx context.Context) (err error) {
		report, err = runAlone(ctx, o)
		return err
	})
	return report, err
}

// runAlone is Run without the check for conflicting operations.
func runAlone(ctx context.Context, o Options) (*Report, error) {
	r := &replay{Options: o, began: time.Now()}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.leaveNothing())
	}
	if done := r.plan.Report; done != nil {
		done.Again = true
		return done, remove(o.State)
	}
	report, err := r.run(ctx)
	r.close()
	switch {
	case err == nil && report.Outcome == Complete:
		err = remove(o.State)
	case err != nil && r.idle && !errors.Is(err, ErrSourceGone):
		err = errors.Join(err, r.leaveNothing())
	}
	return report, err
}

// replay is a run of a replay.
type replay struct {
	Options
	plan    *jobState
	source  *replayStream
	scratch *scratchServer
	feeder  *streamCopier
	writer  *writer.Writer // nil if records go back to the crawl
	store   *recordStore   // on the scratch server, or of the crawl
	stop    []func()
	began   time.Time
	before  copyPosition // position of earlier runs
	kept    int64        // records committed by earlier runs
	begun   bool         // this run began the replay
	idle    bool         // the run ended before it committed or sent back a record
}

// open makes or reads the plan and opens all parts, without starting them.
func (r *replay) open(ctx context.Context) (err error) {
	if r.source, err = openReplayStream(ctx, r.Source, r.Stream, &r.Choice); err != nil {
		return err
	}
	if r.plan, err = r.planned(ctx); err != nil || r.plan.Report != nil {
		return err
	}
	if r.scratch, err = openScratchServer(ctx, r.State, r.Key, r.Source.Layout.Partitions, r.Log); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.Writer != nil {
		if err := r.checkOutput(ctx); err != nil {
			return err
		}
	}
	to := r.Source
	if r.Writer != nil {
		if r.writer, err = writer.New(*r.Writer, r.scratch.write); err != nil {
			return err
		}
		to = r.scratch.feed
	}
	if r.store, err = openRecordStore(ctx, to, sentFile(r.State), r.plan.Generation); err != nil {
		return err
	}
	r.before = r.store.at()
	return r.openFeeder(ctx)
}

// planned reads the plan of earlier runs, or makes one.
func (r *replay) planned(ctx context.Context) (*jobState, error) {
	p, err := readJobState(r.State)
	if err != nil {
		return nil, err
	}
	era, err := r.Source.Eras.Last(ctx)
	if err != nil {
		return nil, err
	}
	if p != nil {
		switch {
		case p.Digest != r.digest():
			return nil, fmt.Errorf("--state %s: %w, of %s: name another directory, or remove it to give that one up", r.State, ErrOther, p.About)
		case p.Report != nil:
		case r.Writer == nil && p.Era != era:
			return nil, fmt.Errorf("the cluster was restored since the replay in %s began, and may lack records that it sent back: remove that to begin another", r.State)
		case !r.source.stream.CachedInfo().Created.Equal(p.Created):
			return nil, fmt.Errorf("stream %s was re-created since the replay in %s began: remove that directory to start another replay", r.Stream, r.State)
		case r.source.stream.CachedInfo().State.LastSeq < p.To:
			return nil, fmt.Errorf("stream %s ends at sequence %d, and the replay in %s reads up to %d: the stream lost its end; remove the directory to begin another replay",
				r.Stream, r.source.stream.CachedInfo().State.LastSeq, r.State, p.To)
		}
		return p, nil
	}
	if entries, err := os.ReadDir(r.State); len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = errors.New("has no replay to resume and is not empty: name another directory")
		}
		return nil, fmt.Errorf("--state %s: %w", r.State, err)
	}
	if r.Writer != nil {
		if err := r.Writer.CheckPlace(); err != nil {
			return nil, err
		}
		if err := r.refuseCommits(time.Time{}); err != nil {
			return nil, err
		}
	}
	p = &jobState{V: planVersion, About: r.about(), Digest: r.digest(), Era: era, Began: r.began.UTC()}
	if r.Writer == nil {
		if p.Generation = r.Generation; p.Generation == "" {
			p.Generation = messages.NewGeneration(r.began)
		}
	}
	if p.seqRange, err = r.source.resolve(ctx, &r.Choice, r.began); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.State, 0o755); err != nil {
		return nil, fmt.Errorf("--state %s: %w", r.State, err)
	}
	r.begun = true
	return p, p.write(r.State)
}

func (r *replay) openFeeder(ctx context.Context) error {
	p, err := r.newMessageCopier(ctx)
	if err != nil {
		return err
	}
	r.feeder = &streamCopier{from: r.source, window: r.plan.seqRange, to: r.store, workers: p.workers(), prepare: p.record}
	if r.Stream == messages.StreamPages {
		r.feeder.prepare = p.page
	}
	return nil
}

func (r *replay) close() {
	for _, stop := range r.stop {
		stop()
	}
	r.scratch.close()
}

// run starts the stages, watches them until the replay is over, and stops them in pipeline order.
func (r *replay) run(ctx context.Context) (*Report, error) {
	g := r.start(ctx)
	feeding, stopFeeding := context.WithCancel(g.Context())
	defer stopFeeding()
	defer context.AfterFunc(ctx, stopFeeding)()
	fed, feeder := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(feeder)
		fed <- r.whileSource(feeding, r.feeder.run)
	}()
	over, err := r.watch(ctx, g.Context(), fed)
	stopFeeding()
	<-feeder
	_, werr := g.Stop(err != nil)
	return r.end(over, errors.Join(err, werr))
}

// start starts the writer.
func (r *replay) start(ctx context.Context) *stagegroup.Group {
	g := stagegroup.New(ctx)
	if r.writer != nil {
		g.Go(r.writer.Run)
		g.Go(r.scratch.janitor(r.Source.Layout.Partitions).Run)
	}
	return g
}

// lookEvery is the interval between checks of the progress.
const lookEvery = 50 * time.Millisecond

// watch follows the replay until the last stage has read all selected messages, ctx is done, or a
// stage has failed. It reports whether the replay is over.
func (r *replay) watch(ctx, stages context.Context, fed <-chan error) (over bool, err error) {
	all := false
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-stages.Done():
			return false, nil // Stop returns the reason
		case err := <-fed:
			if err != nil {
				return false, ignoreDone(ctx, err)
			}
			all = true
		case <-tick.C:
		}
		if err := r.trouble(stages); err != nil {
			return false, fmt.Errorf("%w (nothing is lost; fix the cause and run the same command again to continue)", err)
		}
		if err := r.reportProgress(stages, all); err != nil {
			r.Log.Debug("cannot read the progress of the replay", "error", err)
			continue
		}
		if all && r.isOver(stages) {
			return true, nil
		}
	}
}

// ignoreDone returns nil for an error that is due to the end of ctx.
func ignoreDone(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// trouble returns an error that only the user can fix.
func (r *replay) trouble(ctx context.Context) error {
	if r.writer == nil {
		return r.scratch.trouble(ctx)
	}
	return errors.Join(r.writer.Err(), r.scratch.trouble(ctx))
}

// isOver reports whether the writer has committed all published records.
func (r *replay) isOver(ctx context.Context) bool {
	if r.writer == nil {
		return true
	}
	over, err := r.writer.CaughtUp(ctx)
	if err != nil {
		r.Log.Debug("cannot ask the writer", "error", err)
	}
	return over && err == nil
}

// handled returns the number of messages that all runs have handled up to a position.
func (r *replay) handled(at copyPosition) int64 {
	if r.Choice.Host != "" {
		return at.Chosen
	}
	return at.Read
}

// reportProgress calls Progress.
func (r *replay) reportProgress(ctx context.Context, all bool) error {
	if r.Progress == nil {
		return nil
	}
	p := Progress{Stream: r.Stream, Elapsed: time.Since(r.began), FirstSeq: r.plan.First, FirstTime: r.plan.FirstTime, Done: r.handled(r.store.at())}
	dead, err := r.scratch.feed.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return fmt.Errorf("inspect scratch stream %s: %w", messages.StreamDead, err)
	}
	p.DeadLetters = int64(dead.CachedInfo().State.LastSeq)
	if r.writer != nil {
		p.Records = r.kept + r.writer.Totals().Records
	} else {
		p.Records = r.store.stored.Load().Records
	}
	switch {
	case all:
		p.Chosen = p.Done
	case r.Choice.Host == "":
		p.Chosen = r.plan.Messages
	}
	p.PerSecond = float64(p.Done-r.handled(r.before)) / p.Elapsed.Seconds()
	if left := p.Chosen - p.Done; p.PerSecond > 0 && left > 0 {
		p.SecondsLeft = float64(left) / p.PerSecond
	}
	r.Progress(p)
	return nil
}

// ErrSourceGone is returned if the server of the source is gone and may have ended for good. The
// progress so far is kept.
var ErrSourceGone = errors.New("the crawl and its server have ended (run the same command again to continue from the stored streams)")

// sourceAway bounds the wait for a server that may end for good.
const sourceAway = 3 * time.Second

// whileSource calls run, and cancels its context if the server of the source is gone.
func (r *replay) whileSource(ctx context.Context, run func(context.Context) error) error {
	if !r.Ends {
		return run(ctx)
	}
	with, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		seen := time.Now()
		for sleep.For(with, sourceAway/10) == nil {
			if r.Source.NC.IsConnected() {
				seen = time.Now()
			} else if time.Since(seen) > sourceAway {
				cancel(ErrSourceGone)
			}
		}
	}()
	err := run(with)
	if errors.Is(context.Cause(with), ErrSourceGone) {
		return ErrSourceGone
	}
	return err
}
