package writer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/testing/natstest"
	"seine/internal/testing/pgserver"
	"seine/internal/testing/s3server"
	"seine/pkg/messages"
)

// runs runs a writer until it has opened everything, stops it and returns its error.
func runs(t *testing.T, w *Writer) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	var caughtUp bool
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(5 * time.Millisecond):
		}
		if ok, err := w.CaughtUp(ctx); ok && err == nil && !caughtUp {
			caughtUp = true
			cancel()
		}
	}
}

// Two writers with one name and two outputs would each have a part of the records. The second is
// refused with the output to which the name is bound, and creates nothing in its own.
func TestNameIsBoundToOnePlaceAndForm(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 40)
	natstest.Send(t, bus.JS, "seine.results.a.0", 1) // otherwise a writer of results finishes before it has checked
	cfg := testConfig(t)
	try := func(change func(*Config)) error {
		t.Helper()
		c := cfg
		c.State = filepath.Join(t.TempDir(), "state")
		change(&c)
		w, err := New(c, bus)
		check(t, err)
		return runs(t, w)
	}
	check(t, try(func(*Config) {}))
	other := filepath.Join(t.TempDir(), "other")
	for name, tt := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"another directory":  {func(c *Config) { c.Out = other }, []string{other, "bound to " + cfg.Out, "another destination", "--change-output"}},
		"a database":         {func(c *Config) { c.Out = "sqlite:" + other + ".db" }, []string{"bound to " + cfg.Out, "another destination"}},
		"another format":     {func(c *Config) { c.Format = "csv" }, []string{"--format is jsonl.zst there, and csv here"}},
		"another path":       {func(c *Config) { c.Path = "{crawl}/{kind}" }, []string{"--path is {crawl} there, and {crawl}/{kind} here"}},
		"objects":            {func(c *Config) { c.Format = "objects" }, []string{"--format is jsonl.zst there, and objects here"}},
		"the form and place": {func(c *Config) { c.Out, c.Format = other, "csv" }, []string{"another destination", "--format is jsonl.zst there, and csv here"}},
		"another source":     {func(c *Config) { c.From = "results" }, []string{"--from is records there, and results here"}},
	} {
		err := try(tt.change)
		if _, ok := errors.AsType[*BoundError](err); !ok {
			t.Errorf("%s: %v, want a BoundError", name, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q", name, err, part)
			}
		}
	}
	for _, made := range []string{other, other + ".db"} {
		if _, err := os.Stat(made); err == nil {
			t.Errorf("%s was made", made)
		}
	}
	for name, change := range map[string]func(*Config){
		"what it is by default": func(c *Config) { c.Format, c.Path = "jsonl.zst", "{crawl}/" },
		"other sizes of files":  func(c *Config) { c.ChunkRecords = 10 },
		"by another way":        func(c *Config) { c.Out = filepath.Join(filepath.Dir(cfg.Out), ".", "out") + "/" },
	} {
		if err := try(change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantExactly(t, cfg, map[string]int{"a": 40})
}

// An output may be mounted elsewhere or have been moved. A different output with the same path is
// refused.
func TestPlaceIsTheSameWhereverItIs(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 40)
	cfg := testConfig(t)
	try := func() error {
		t.Helper()
		w, err := New(cfg, bus)
		check(t, err)
		return runs(t, w)
	}
	check(t, try())
	was := cfg.Out
	cfg.Out = filepath.Join(t.TempDir(), "mounted")
	check(t, os.Symlink(was, cfg.Out))
	check(t, try())
	check(t, os.Remove(cfg.Out))
	check(t, os.Rename(was, cfg.Out))
	check(t, try())
	wantExactly(t, cfg, map[string]int{"a": 40})
	cfg.Out = was
	for _, empty := range []bool{false, true} { // as where nothing is mounted
		if empty {
			check(t, os.Mkdir(was, 0o755))
		}
		if err := try(); err == nil || !strings.Contains(err.Error(), "its files have been removed, or it is not mounted") {
			t.Errorf("in a place that is not there: %v", err)
		}
	}
	cfg.ChangeOutput = true
	check(t, try())
	cfg.ChangeOutput = false
	check(t, try())
	wantExactly(t, cfg, map[string]int{"a": 40})
}

// A running writer stops when its name is bound to another output.
func TestWriterEndsWhenItsNameIsBoundElsewhere(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 40)
	cfg := testConfig(t)
	first := start(t, bus, cfg, func(w *Writer) { w.lagEvery = 5 * time.Millisecond })
	first.catchUp()
	cfg.Out, cfg.State, cfg.ChangeOutput = filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "state"), true
	second := start(t, bus, cfg)
	if err, ok := errors.AsType[*BoundError](<-first.done); !ok || err.Have.Out != cfg.Out {
		t.Errorf("it ended with %v, want that the name is bound to %s", err, cfg.Out)
	}
	second.catchUp()
	second.end()
	wantExactly(t, cfg, map[string]int{"a": 40})
}

// Each kind of output has an identity of its own, which does not change.
func TestPlacesHaveNames(t *testing.T) {
	t.Parallel()
	s3server.SetCredentials()
	pgserver.SetEnvironment()
	s3, pg := s3server.Start(t), pgserver.Start(t)
	options := bucket.Options{Endpoint: s3.Endpoint(), PathStyle: true}
	seen := make(map[string]string)
	for name, out := range map[string]string{
		"directory": filepath.Join(t.TempDir(), "out"), "bucket": s3.Out(), "prefix": s3.Out() + "/below",
		"SQLite": "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "PostgreSQL": pg.DSN(pg.Database()),
	} {
		bus := startBus(t, false)
		publish(t, bus, "a", 0, 8)
		cfg := testConfig(t)
		cfg.Out = out
		if bucket.Is(out) {
			cfg.S3 = options
		}
		id, err := cfg.placeID()
		if id != "" || err != nil {
			t.Errorf("%s: before the first writer its name is %q, %v", name, id, err)
		}
		for range 2 {
			w, err := New(cfg, bus)
			check(t, err)
			check(t, runs(t, w))
			have, _, err := output.ReadBinding(t.Context(), bus, cfg.Name)
			check(t, err)
			id, err := cfg.placeID()
			check(t, err)
			if other, ok := seen[id]; id == "" || ok && other != name || have.Place != id {
				t.Errorf("%s: its name is %q, as that of %q; the writer is bound to %q", name, id, other, have.Place)
			}
			seen[id] = name
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d names of 5 places", len(seen))
	}
}

// A stored binding contains no password.
func TestBindingHasNoPassword(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.Out = "postgres://me:secret-word@db.example/pages?sslmode=require"
	if b := c.binding(); strings.Contains(b.Out, "secret-word") || !strings.Contains(b.Out, "db.example") {
		t.Errorf("out is %q", b.Out)
	}
	if got := messages.KeyWriter(c.Name); got != "writer.default" {
		t.Errorf("the key is %s", got)
	}
}
