package replays

import (
	"context"
	"errors"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/base/stateencryption"
	"seine/internal/run/embedded"
	"seine/internal/run/replay"
	"seine/internal/run/works"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
)

// Intervals.
const (
	lookWait  = 2 * time.Second        // between checks whether another server still holds the directory
	retryWait = 500 * time.Millisecond // before an unavailable source is tried again
)

// Run runs replays until ctx is done, one at a time. It then interrupts the current one.
func (s *Service) Run(ctx context.Context) {
	if s.Off {
		return
	}
	defer s.close()
	for ctx.Err() == nil {
		if ctx, j := s.next(ctx); j != nil {
			s.run(ctx, j)
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-time.After(lookWait):
		}
	}
}

// run runs a replay until it has ended or ctx is done.
func (s *Service) run(ctx context.Context, j *task) {
	defer s.stopped(j)
	for {
		report, err := s.attempt(ctx, j)
		switch {
		case report != nil && report.Outcome == replay.Complete && err == nil:
			s.end(j, report, nil)
			return
		case ctx.Err() != nil:
			return
		case err == nil: // it has yielded to a crawl
		case passes(err):
			s.record(j, nil, err.Error())
		default:
			s.end(j, report, err)
			return
		}
		if sleep.For(ctx, retryWait) != nil {
			return
		}
	}
}

// passes reports whether an error is temporary: the cluster is unavailable, or another operation
// excludes the replay.
func passes(err error) bool {
	for _, of := range []error{
		cluster.ErrAway, cluster.ErrEmpty, embedded.ErrInUse, replay.ErrSourceGone, context.Canceled, context.DeadlineExceeded,
		works.ErrExcluded, stages.ErrRestoring,
	} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// attempt runs a replay while its source is available. The report is nil if the replay has not
// begun.
func (s *Service) attempt(ctx context.Context, j *task) (report *replay.Report, err error) {
	s.mu.Lock()
	job := j.Job
	s.mu.Unlock()
	o, err := s.options(&job)
	if err != nil {
		return nil, err
	}
	if data := s.cluster.Local(); data != "" {
		if o.Key, err = stateencryption.Open(data, ""); err != nil {
			return nil, err
		}
	}
	o.Progress = func(p replay.Progress) { s.record(j, &p, "") }
	err = s.cluster.Hold(ctx, func(ctx context.Context, bus *stages.Bus, ends bool) (err error) {
		o.Source, o.Ends = bus, ends
		report, err = replay.Run(ctx, o)
		return err
	})
	return report, err
}

// end stores the result of a replay.
func (s *Service) end(j *task, report *replay.Report, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.Ended, j.Report = time.Now().UTC(), report
	if err != nil {
		j.Error = inWords(err)
	}
	s.log.Info("a replay has ended", "replay", j.ID, "crawl", j.Crawl, "error", j.Error)
	if err := s.save(&j.Job); err != nil { // the next server repeats the replay, which changes nothing
		s.log.Error("the end of a replay is not stored", "error", err)
	}
}
