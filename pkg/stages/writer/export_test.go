package writer

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/testing/s3server"
	"seine/internal/testing/slow"
)

// written returns an output with records 0 to n-1 of crawls a and b.
func written(t testing.TB, cfg Config, n int) Config {
	t.Helper()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, n)
	publish(t, bus, "b", 0, n)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	return cfg
}

func exportOf(t testing.TB, from Config) ExportOptions {
	to := DefaultConfig().OutputConfig
	to.Out = filepath.Join(t.TempDir(), "to")
	return ExportOptions{From: from.Out, FromS3: from.S3, To: to, Identities: identities(t), Log: quiet()}
}

// exported returns a configuration that reads the exported output.
func exported(o ExportOptions) Config { return Config{OutputConfig: o.To, Name: exportName} }

// wantExported is wantExactly for the target of an export.
func wantExported(t testing.TB, o ExportOptions, want map[string]int) {
	t.Helper()
	wantExactly(t, exported(o), want)
	wantTidy(t, exported(o))
}

func TestExport(t *testing.T) {
	t.Parallel()
	server := s3server.Start(t)
	from := written(t, testConfig(t), 130)
	for name, adapt := range map[string]func(*ExportOptions){
		"plain":     func(o *ExportOptions) { o.To.Format = "jsonl" },
		"by kind":   func(o *ExportOptions) { o.To.Format, o.To.Path = "jsonl.gz", "{crawl}/{kind}/dt={date}" },
		"encrypted": func(o *ExportOptions) { o.To.Encrypt = []string{testRecipient} },
		"objects":   func(o *ExportOptions) { o.To.Format, o.To.Key = "objects", "{crawl}/{field:n}.json" },
		"S3": func(o *ExportOptions) {
			o.To.Out, o.To.S3 = server.Out(), bucket.Options{Endpoint: server.Endpoint(), PathStyle: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := exportOf(t, from)
			adapt(&o)
			got, err := Export(t.Context(), o)
			check(t, err)
			if got.Done != got.Commits || got.Before != 0 || got.Records != 260 {
				t.Errorf("it did %+v", got)
			}
			wantExported(t, o, map[string]int{"a": 130, "b": 130})
			again, err := Export(t.Context(), o)
			check(t, err)
			if again.Done != 0 || again.Before != got.Commits {
				t.Errorf("a second time it did %+v", again)
			}
			// Export back from there.
			back := exportOf(t, exported(o))
			_, err = Export(t.Context(), back)
			check(t, err)
			wantExported(t, back, map[string]int{"a": 130, "b": 130})
		})
	}
}

// Replaced objects are not exported, since their contents are gone.
func TestExportOfReplacedObjects(t *testing.T) {
	t.Parallel()
	from := written(t, objectsOf("{crawl}/{field:slot}.json")(testConfig(t)), 3*slots)
	o := exportOf(t, from)
	_, err := Export(t.Context(), o)
	check(t, err)
	got := committed(t, exported(o))
	if len(got) != 2*slots {
		t.Errorf("%d records, want %d", len(got), 2*slots)
	}
}

func TestExportFilters(t *testing.T) {
	t.Parallel()
	from := written(t, testConfig(t), 60)
	o := exportOf(t, from)
	o.Filter.Crawl = "a"
	_, err := Export(t.Context(), o)
	check(t, err)
	wantExported(t, o, map[string]int{"a": 60})
	other := o
	other.Filter.Crawl = "b"
	if _, err := Export(t.Context(), other); err == nil || !strings.Contains(err.Error(), "of the crawl a, this one is of the crawl b") {
		t.Errorf("another crawl to the same place: %v", err)
	}
	o = exportOf(t, from)
	o.Filter.Kind = "none"
	got, err := Export(t.Context(), o)
	check(t, err)
	if got.Records != 0 || got.Files != 0 || got.Done != got.Commits {
		t.Errorf("a kind that is not there: %+v", got)
	}
}

func TestExportRefusals(t *testing.T) {
	t.Parallel()
	from := written(t, testConfig(t), 40)
	refused := func(want string, adapt func(*ExportOptions)) {
		t.Helper()
		o := exportOf(t, from)
		adapt(&o)
		if _, err := Export(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused("is the source, or one contains the other", func(o *ExportOptions) { o.To.Out = from.Out + "/" })
	refused("is the source, or one contains the other", func(o *ExportOptions) { o.To.Out = filepath.Join(from.Out, "a") })
	refused(`belongs to the writer "default"`, func(o *ExportOptions) { o.To.Out = written(t, testConfig(t), 8).Out })
	refused("no commit log", func(o *ExportOptions) { o.From = t.TempDir() })
	refused("no such file", func(o *ExportOptions) { o.From = "/no/such/place" })
	refused("--format", func(o *ExportOptions) { o.To.Format = "xls" })

	secret := written(t, encryptedConfig(testConfig(t)), 40)
	o := exportOf(t, secret)
	o.Identities = ageencrypt.Identities{}
	if _, err := Export(t.Context(), o); !errors.Is(err, ageencrypt.ErrNoIdentity) {
		t.Errorf("without an identity: %v", err)
	}
	commits, err := from.ReadCommits()
	check(t, err)
	check(t, os.WriteFile(filepath.Join(from.Out, commits[0].Files[0].Path), []byte("damaged"), 0o644))
	refused(commits[0].Files[0].Path, func(*ExportOptions) {})
	cfg := testConfig(t)
	cfg.Name = exportName
	if err := cfg.Validate(); err == nil {
		t.Error("a writer can call itself as an export does")
	}
}

// An export stops between two commits when its context ends.
func TestExportStops(t *testing.T) {
	t.Parallel()
	from := written(t, testConfig(t), 200)
	o := exportOf(t, from)
	ctx, stop := context.WithCancel(t.Context())
	o.Progress = func(ExportTotals) { stop() }
	got, err := Export(ctx, o)
	if !errors.Is(err, context.Canceled) || got.Done == 0 || got.Done == got.Commits {
		t.Errorf("%+v, %v", got, err)
	}
	o.Progress = nil
	_, err = Export(t.Context(), o)
	check(t, err)
	wantExported(t, o, map[string]int{"a": 200, "b": 200})
}

// Environment of a child process that runs an export.
const envExport = "SEINE_TEST_EXPORT" // its target, as JSON, after the source and a line feed

func exportChild() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	from, to, _ := strings.Cut(os.Getenv(envExport), "\n")
	o := ExportOptions{From: from, Log: quiet(), hook: killAt(os.Getenv(envStep))}
	if err := json.Unmarshal([]byte(to), &o.To); err != nil {
		return fail(err)
	}
	// Slow enough for a kill during the work.
	o.Progress = func(ExportTotals) { time.Sleep(5 * time.Millisecond) }
	if _, err := Export(ctx, o); err != nil {
		return fail(err)
	}
	return 0
}

func startExport(t *testing.T, o ExportOptions, env ...string) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o.To)
	check(t, err)
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(append(os.Environ(), "TMPDIR="+t.TempDir(), envExport+"="+o.From+"\n"+string(text)), env...)
	c.Stderr = os.Stderr
	check(t, c.Start())
	return c
}

// An export is killed at each step and at random moments, and restarted until it is done. The
// target has every record once.
func TestCrashOfExport(t *testing.T) {
	slow.Skip(t)
	if withRace {
		t.Skip("runs without the race detector")
	}
	cfg := testConfig(t)
	cfg.ChunkRecords = 10
	from := written(t, cfg, 300)
	server := s3server.Start(t)
	for name, adapt := range map[string]func(*ExportOptions){
		"directory": func(*ExportOptions) {},
		"objects":   func(o *ExportOptions) { o.To.Format, o.To.Key = "objects", "{crawl}/{field:n}.json" },
		"S3": func(o *ExportOptions) {
			o.To.Encrypt = []string{testRecipient}
			o.To.Out, o.To.S3 = server.Out(), bucket.Options{Endpoint: server.Endpoint(), PathStyle: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := exportOf(t, from)
			adapt(&o)
			for _, step := range []string{output.StepAppended, output.StepSynced, output.StepRenamed, output.StepEntrySynced, output.StepEntryRenamed, output.StepCommitted} {
				if err := startExport(t, o, envStep+"="+step).Wait(); err == nil {
					t.Errorf("it was to kill itself at %q", step)
				}
			}
			kills := 0
			for {
				c := startExport(t, o)
				kill := time.AfterFunc(time.Duration(30+rand.IntN(250))*time.Millisecond, func() { _ = c.Process.Signal(syscall.SIGKILL) })
				err := c.Wait()
				kill.Stop()
				if err == nil {
					break
				}
				if kills++; kills == 10 { // as many as is worth the time
					check(t, startExport(t, o).Wait())
					break
				}
			}
			t.Logf("killed %d times", 6+kills)
			wantExported(t, o, map[string]int{"a": 300, "b": 300})
		})
	}
}
