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

// Options of a replay.
type Options struct {
	Source *stages.Bus // of the crawl, joined; it is only read
	Stream string      // that is replayed: messages.StreamPages or StreamRecords
	Choice Selection
	// Spec is what pages are parsed by; nil is the spec that each crawl has.
	Spec   *crawlspec.Spec
	Parser parser.Config
	// Writer says where records go. Its name and state are the replay's to say. If
	// it is nil they go back to the crawl, as a new generation of the name
	// Generation; "" makes one up.
	Writer     *writer.Config
	Generation string
	// Beyond lets records go back that have fields which the spec of their crawl lacks.
	Beyond bool
	// State is the directory of the replay, to continue with after it was killed.
	State string
	// Key encrypts the streams there, as it does those of the crawl; nil for none.
	Key *stateencryption.Key
	// Ends says that the server of Source may end for good, as that of `seine crawl`
	// does with the crawl: then Run returns ErrSourceGone. Else it waits.
	Ends bool
	// Progress, if set, is called with the state a few times a second.
	Progress func(Progress)
	Log      *slog.Logger
}

// WriterName is what the writer of a replay is called where it has its log.
const WriterName = "replay"

// Progress is how a replay stands.
type Progress struct {
	Stream      string        `json:"-"`
	Elapsed     time.Duration `json:"-"`
	Done        int64         `json:"done" doc:"Messages that are read and done with."` // pages, or records of which one may hold several
	Chosen      int64         `json:"chosen,omitempty" doc:"Of so many; absent while that is not known."`
	PerSecond   float64       `json:"per_second"` // of this run
	Records     int64         `json:"records"`    // committed, or sent back
	DeadLetters int64         `json:"dead_letters"`
	SecondsLeft float64       `json:"seconds_left,omitempty" doc:"At this rate; absent if that is not known."`
	FirstSeq    uint64        `json:"-"` // that the stream had when the replay began
	FirstTime   time.Time     `json:"-"`
}

// Run replays until all that was chosen is committed, or ctx is done. The report
// tells which; it is returned with an error too, if there is one and the replay
// had begun.
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

// runAlone is Run while no work is in progress that excludes it.
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

// replay is a run of one.
type replay struct {
	Options
	plan   *jobState
	source *replayStream
	side   *scratchServer
	feeder *streamCopier
	writer *writer.Writer // nil if records go back to the crawl
	store  *recordStore   // at the side, or of the crawl
	stop   []func()
	began  time.Time
	before copyPosition // where earlier runs have come to
	kept   int64        // records that they have committed
	begun  bool         // by this run
	idle   bool         // it has ended, and nothing was committed or sent back
}

// open makes or finds the plan, and makes all parts; it starts none.
func (r *replay) open(ctx context.Context) (err error) {
	if r.source, err = openReplayStream(ctx, r.Source, r.Stream, &r.Choice); err != nil {
		return err
	}
	if r.plan, err = r.planned(ctx); err != nil || r.plan.Report != nil {
		return err
	}
	if r.side, err = openScratchServer(ctx, r.State, r.Key, r.Source.Layout.Partitions, r.Log); err != nil {
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
		if r.writer, err = writer.New(*r.Writer, r.side.write); err != nil {
			return err
		}
		to = r.side.feed
	}
	if r.store, err = openRecordStore(ctx, to, sentFile(r.State), r.plan.Generation); err != nil {
		return err
	}
	r.before = r.store.at()
	return r.openFeeder(ctx)
}

// planned returns the plan of the runs before, or makes one.
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
	r.side.close()
}

// run starts the stages, watches them until all is done, and stops them in the
// order of the pipeline.
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
		g.Go(r.side.janitor(r.Source.Layout.Partitions).Run)
	}
	return g
}

// lookEvery is the time between two looks at how a replay stands.
const lookEvery = 50 * time.Millisecond

// watch follows the replay until all that was chosen is read by the last stage,
// ctx is done, or something has failed. It reports whether all is done.
func (r *replay) watch(ctx, stages context.Context, fed <-chan error) (over bool, err error) {
	all := false
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-stages.Done():
			return false, nil // Wait will say why
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

// ignoreDone returns no error for what ended because ctx did.
func ignoreDone(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// trouble returns what stops the replay and only a person can fix.
func (r *replay) trouble(ctx context.Context) error {
	if r.writer == nil {
		return r.side.trouble(ctx)
	}
	return errors.Join(r.writer.Err(), r.side.trouble(ctx))
}

// isOver reports whether the writer has committed all that was published.
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

// handled returns how many messages had been handled by all runs at a position.
func (r *replay) handled(at copyPosition) int64 {
	if r.Choice.Host != "" {
		return at.Chosen
	}
	return at.Read
}

// reportProgress tells Progress how the replay stands.
func (r *replay) reportProgress(ctx context.Context, all bool) error {
	if r.Progress == nil {
		return nil
	}
	p := Progress{Stream: r.Stream, Elapsed: time.Since(r.began), FirstSeq: r.plan.First, FirstTime: r.plan.FirstTime, Done: r.handled(r.store.at())}
	dead, err := r.side.feed.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return fmt.Errorf("look at stream %s at the side: %w", messages.StreamDead, err)
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

// ErrSourceGone is returned when the server of the source is away, and may have
// ended for good. What is done stays done.
var ErrSourceGone = errors.New("the crawl and its server have ended (run the same command again to continue from the stored streams)")

// sourceAway is for how long a server that may end for good is waited for.
const sourceAway = 3 * time.Second

// whileSource runs what needs the source, until it ends or the source has.
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
