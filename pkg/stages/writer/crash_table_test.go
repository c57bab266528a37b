package writer

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"seine/internal/testing/pgserver"
	"seine/internal/testing/s3server"
	"seine/internal/testing/slow"
	"seine/pkg/stages"
)

// crashTarget is an output and the content written to it.
type crashTarget struct {
	what  string // key of contents
	where string
	place func(t *testing.T) Config
	// steps are the steps of its commits. Nil means all steps of a directory.
	steps []string
	// want runs further checks besides those of the content.
	want func(t testing.TB, cfg Config, want map[string]int)
	// rounds is how often a process is killed at each step. It is killed four times as often at
	// random moments.
	rounds int
}

var outlets = []crashTarget{
	{what: "records", where: "directory", place: inDirectory, rounds: 3},
	{what: "records", where: "S3", place: inS3, rounds: 2},
	{what: "records", where: "SQLite", place: inSQLite, steps: rowSteps, want: wantIntegrity, rounds: 2},
	{what: "records", where: "PostgreSQL", place: inPostgres, steps: rowSteps, rounds: 2},
	{what: "batches", where: "directory", place: inDirectory, rounds: 2},
	{what: "batches", where: "SQLite", place: inSQLite, steps: rowSteps, want: wantIntegrity, rounds: 1},
	{what: "parquet", where: "directory", place: inDirectory, rounds: 1},
	{what: "objects", where: "directory", place: inDirectory, rounds: 1},
	{what: "slots", where: "directory", place: inDirectory, rounds: 1},
	{what: "encrypted slots", where: "S3", place: inS3, rounds: 1},
	{what: "encrypted", where: "directory", place: inDirectory, rounds: 1},
	{what: "archive", where: "directory", place: inDirectory, rounds: 1},
	{what: "archive", where: "S3", place: inS3, rounds: 1},
}

func inDirectory(t *testing.T) Config { return testConfig(t) }
func inS3(t *testing.T) Config        { return onS3(t, s3server.Start(t)) }
func inSQLite(t *testing.T) Config    { return onSQLite(t) }
func inPostgres(t *testing.T) Config  { return onPostgres(t, pgserver.Start(t)) }

// In the crash table, processes are killed one after the other at every step of a commit and at
// random moments, while records arrive. Together they must leave every record once.
func TestCrashTable(t *testing.T) {
	slow.Skip(t)
	if withRace {
		t.Skip("runs without the race detector")
	}
	total := new(tally)
	t.Run("outlets", func(t *testing.T) {
		for _, o := range outlets {
			t.Run(o.what+" in "+o.where, func(t *testing.T) {
				t.Parallel()
				crashes(t, o, total)
			})
		}
	})
	t.Logf("%d processes were killed", total.kills)
}

type tally struct {
	sync.Mutex
	kills int
}

func crashes(t *testing.T, o crashTarget, total *tally) {
	what := contents[o.what]
	bus, cfg := startBus(t, true), what.config(o.place(t))
	reached := o.steps
	if reached == nil {
		reached = steps
	}
	var at []string
	for range o.rounds {
		at = append(at, reached...)
		at = append(at, "", "", "", "")
	}
	rand.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	feed := &feeder{bus: bus, t: t, what: what}
	for _, step := range at {
		c := startChild(t, bus.NC.ConnectedUrl(), cfg, envStep+"="+step)
		feed.some()
		if step == "" {
			<-time.After(time.Duration(20+rand.IntN(180)) * time.Millisecond) // the test needs a random delay
			_ = c.Process.Signal(syscall.SIGKILL)
		}
		wantKilled(t, c, step)
	}
	total.Lock()
	total.kills += len(at)
	total.Unlock()
	last := start(t, bus, cfg)
	last.catchUp()
	last.end()
	all := map[string]int{"a": feed.n, "b": feed.n}
	what.want(t, cfg, all)
	if !IsDatabase(cfg.Out) && !strings.HasSuffix(o.what, "slots") { // where records are replaced
		for crawl, n := range all {
			wantManifest(t, cfg, crawl, n, false)
		}
	}
	if o.want != nil {
		o.want(t, cfg, all)
	}
	wantTidy(t, cfg)
}

// feeder publishes more and more records.
type feeder struct {
	bus  *stages.Bus
	t    *testing.T
	what content
	n    int
}

// some publishes enough records for a few commits of each partition.
func (f *feeder) some() {
	to := f.n + 200
	f.what.publish(f.t, f.bus, "a", f.n, to)
	f.what.publish(f.t, f.bus, "b", f.n, to)
	f.n = to
}

func wantKilled(t *testing.T, c *exec.Cmd, step string) {
	t.Helper()
	err := c.Wait()
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("it was to be killed at %q: %v", step, err)
	}
}
