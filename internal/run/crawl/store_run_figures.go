package crawl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/writer"
)

// runsEvery is the interval at which run statistics are stored in the databases of the records.
// They are also stored at the end.
const runsEvery = time.Minute

// runsTime bounds one attempt to store run statistics.
const runsTime = 30 * time.Second

// StoreRuns stores the statistics of a crawl's runs in a database.
func StoreRuns(ctx context.Context, out, crawl string, runs []frontierapi.Run) error {
	all := make([]writer.Run, len(runs))
	for i := range runs {
		r := &runs[i]
		requests := make(map[string]int64, len(r.Requests))
		for class, n := range r.Requests {
			requests[string(class)] = n
		}
		all[i] = writer.Run{
			Crawl: crawl, Run: r.Run, Started: r.Started, Ended: r.Ended, Requests: requests, Records: r.Records,
			Pages: r.Pages, New: r.New, Changed: r.Changed, Same: r.Same, Gone: r.Gone, Failed: r.Failed,
			BytesWire: r.BytesWire, BytesBody: r.BytesBody,
		}
	}
	return writer.SetRuns(ctx, out, all)
}

// readNewestRun reads the statistics of the newest run, unless it is the first run.
func (r report) readNewestRun(ctx context.Context) {
	if r.last.Run == 0 {
		return
	}
	spec, err := r.spec(ctx)
	if err != nil {
		return
	}
	if runs, err := r.client.Runs(ctx, r.Crawl, spec, 1); err == nil && len(runs) > 0 {
		r.newest = &runs[0]
	}
}

// changesCommand returns the command that prints the changes of the newest run. It returns "" if
// the command could not read the output: Markdown, encrypted files, or a URL with a password.
func (r report) changesCommand() string {
	w := &r.Writer
	if w.Format == format.Markdown || len(w.Encrypt) > 0 || writer.Redact(w.Out) != w.Out {
		return ""
	}
	command := "seine cat " + w.Out + " --changes --run last"
	if r.Crawl != messages.DefaultCrawl {
		command += " --crawl " + r.Crawl
	}
	return command
}

// keepRuns stores run statistics in databases at intervals, and once more when stop is called. A
// failed attempt blocks nothing, because the next one stores all statistics.
func (r report) keepRuns(ctx context.Context) (stop func()) {
	var databases []string
	for _, w := range r.Writers() {
		if writer.IsDatabase(w.Out) && !slices.Contains(databases, w.Out) {
			databases = append(databases, w.Out)
		}
	}
	if len(databases) == 0 {
		return func() {}
	}
	again, cancel := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() {
		every := time.NewTicker(runsEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				r.storeRuns(again, databases)
			case <-again.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		keeping.Wait()
		r.storeRuns(ctx, databases)
	}
}

func (r report) storeRuns(ctx context.Context, databases []string) {
	ctx, cancel := context.WithTimeout(ctx, runsTime)
	defer cancel()
	spec, err := r.spec(ctx)
	var runs []frontierapi.Run
	if err == nil {
		runs, err = r.client.Runs(ctx, r.Crawl, spec, frontierapi.MaxRuns)
	}
	for _, out := range databases {
		if err == nil {
			err = StoreRuns(ctx, out, r.Crawl, runs)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, output.ErrAway) { // the writer reports ErrAway
		r.Log.Warn("cannot store the figures of runs", "error", err)
	}
}
