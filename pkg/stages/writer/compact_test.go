package writer

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/testing/await"
	"seine/internal/testing/s3server"
	"seine/internal/testing/slow"
	"seine/pkg/crawlspec"
)

func compactionOf(cfg Config) CompactOptions {
	return CompactOptions{Out: cfg.Out, Name: cfg.Name, S3: cfg.S3, Log: quiet()}
}

// wantCompacted checks that an output has every record once, and has the given number of files if
// it is positive.
func wantCompacted(t testing.TB, cfg Config, n, files int) {
	t.Helper()
	wantExactly(t, cfg, map[string]int{"a": n, "b": n})
	wantTidy(t, cfg)
	for _, crawl := range []string{"a", "b"} {
		wantManifest(t, cfg, crawl, n, false)
	}
	all, err := cfg.ReadCommits()
	check(t, err)
	have := 0
	for _, c := range all {
		have += len(c.Files)
	}
	if files > 0 && have != files {
		t.Errorf("%d files, want %d", have, files)
	}
}

// Merged files have the records of their parts in order, in each format and output. A second
// compaction finds nothing to do. A writer continues where it stopped, and its new files are merged
// with the rest.
func TestCompact(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jsonl", "jsonl.gz", "jsonl.zst", "json", "csv", "csv.gz", "csv.zst", "parquet", "S3", "S3 parquet"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			if rest, ok := strings.CutPrefix(name, "S3"); ok {
				cfg, name = onS3(t, s3server.Start(t)), strings.TrimSpace(rest)
			}
			cfg.Format, cfg.ChunkRecords, cfg.CSVBOM = name, 10, name == "csv.gz"
			bus := startBus(t, false)
			publish(t, bus, "a", 0, 150)
			publish(t, bus, "b", 0, 150)
			w := start(t, bus, cfg)
			w.catchUp()
			w.end()
			before := byCrawl(committed(t, cfg))
			files := 2 * partitions // one per partition and crawl
			got, err := Compact(t.Context(), compactionOf(cfg))
			check(t, err)
			if got.Made != files || got.Merged <= files || got.Left != 0 || got.Bytes == 0 {
				t.Errorf("it did %+v, want %d files made", got, files)
			}
			wantCompacted(t, cfg, 150, files)
			all, err := cfg.ReadCommits()
			check(t, err)
			if mark, err := format.HasByteOrderMark(outputOf(t, cfg), &all[0].Files[0]); err != nil || mark != cfg.CSVBOM {
				t.Errorf("it has a byte order mark: %v, %v", mark, err)
			}
			if !slices.Equal(before["a"], byCrawl(committed(t, cfg))["a"]) && !format.HasColumns(name) {
				t.Error("the order is another")
			}
			if got, err = Compact(t.Context(), compactionOf(cfg)); err != nil || got.Made != 0 || got.Left != files {
				t.Errorf("a second time it did %+v, %v", got, err)
			}
			publish(t, bus, "a", 140, 200) // some are duplicates
			publish(t, bus, "b", 150, 200)
			check(t, os.RemoveAll(filepath.Join(cfg.State, "identities")))
			w = start(t, bus, cfg)
			w.catchUp()
			w.end()
			wantCompacted(t, cfg, 200, 0)
			_, err = Compact(t.Context(), compactionOf(cfg))
			check(t, err)
			wantCompacted(t, cfg, 200, files)
		})
	}
}

// byCrawl groups lines by crawl.
func byCrawl(lines []string) map[string][]string {
	all := make(map[string][]string)
	for _, line := range lines {
		crawl := "b"
		if strings.Contains(line, `"crawl":"a"`) {
			crawl = "a"
		}
		all[crawl] = append(all[crawl], line)
	}
	return all
}

// Merges are bounded, and begin at the same files, whatever was merged before.
func TestCompactBounds(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.ChunkRecords = 10
	written(t, cfg, 400)
	o := compactionOf(cfg)
	o.bytes = 12_000 // about 50 records
	_, err := Compact(t.Context(), o)
	check(t, err)
	wantCompacted(t, cfg, 400, 0)
	all, err := cfg.ReadCommits()
	check(t, err)
	for _, c := range all {
		if size := rawBytesOf(&c); size > o.bytes {
			t.Errorf("%s has %d bytes", c.Name(), size)
		}
	}
	if got, err := Compact(t.Context(), o); err != nil || got.Made != 0 {
		t.Errorf("a second time it did %+v, %v", got, err)
	}
	kept := len(all)
	cfg.State = filepath.Join(t.TempDir(), "other")
	written(t, cfg, 400) // of another stream, so with other file names
	_, err = Compact(t.Context(), o)
	check(t, err)
	again, err := cfg.ReadCommits()
	check(t, err)
	for i := range all {
		if !slices.ContainsFunc(again, func(c output.Commit) bool { return c.Name() == all[i].Name() }) {
			t.Errorf("%s is no more", all[i].Name())
		}
	}
	if len(again) < 2*kept-2 || len(again) > 2*kept+2 {
		t.Errorf("%d entries, then %d", kept, len(again))
	}
}

// Compaction leaves files alone that it cannot merge safely.
func TestCompactLeavesAlone(t *testing.T) {
	t.Parallel()
	for name, adapt := range map[string]func(Config) Config{
		"encrypted": encryptedConfig, "objects": objectsOf("{crawl}/{field:n}.json"),
	} {
		cfg := adapt(testConfig(t))
		cfg.ChunkRecords = 10
		written(t, cfg, 60)
		got, err := Compact(t.Context(), compactionOf(cfg))
		if err != nil || got.Made != 0 || got.Left == 0 {
			t.Errorf("%s: it did %+v, %v", name, got, err)
		}
		wantExactly(t, cfg, map[string]int{"a": 60, "b": 60})
	}
	cfg := testConfig(t)
	bus := startBus(t, false)
	cfg = archiveConfig(cfg)
	publishPages(t, bus, "a", 0, 60)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	if got, err := Compact(t.Context(), compactionOf(cfg)); err != nil || got.Made != 0 {
		t.Errorf("an archive: it did %+v, %v", got, err)
	}
	for out, want := range map[string]string{
		"sqlite:" + filepath.Join(t.TempDir(), "x.db"): "has no files to merge",
		t.TempDir():      "no commit log",
		"/no/such/place": "no such file",
	} {
		if _, err := Compact(t.Context(), CompactOptions{Out: out, Log: quiet()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", out, err, want)
		}
	}
}

// A damaged part is not merged, and two compactions of a directory do not run at the same time.
func TestCompactRefusals(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.ChunkRecords = 10
	written(t, cfg, 60)
	o := compactionOf(cfg)
	inside := false
	o.hook = func(string) error {
		if !inside {
			inside = true
			if _, err := Compact(t.Context(), compactionOf(cfg)); !errors.Is(err, output.ErrMerging) {
				t.Errorf("beside another one: %v", err)
			}
		}
		return nil
	}
	all, err := cfg.ReadCommits()
	check(t, err)
	file := filepath.Join(cfg.Out, all[2].Files[0].Path)
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, text[:len(text)-1], 0o644))
	if _, err := Compact(t.Context(), o); err == nil || !strings.Contains(err.Error(), all[2].Files[0].Path) {
		t.Errorf("with a damaged file: %v", err)
	}
	check(t, os.WriteFile(file, text, 0o644))
	_, err = Compact(t.Context(), o)
	check(t, err)
	wantCompacted(t, cfg, 60, 2*partitions)
}

// An export continues where it stopped, although the exported files have since been merged with
// later records. Its own output can be merged, too.
func TestExportOfMergedFiles(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.ChunkRecords = 10
	bus := startBus(t, false)
	o := exportOf(t, cfg)
	for n := 0; n < 240; n += 40 {
		publish(t, bus, "a", n, n+40)
		publish(t, bus, "b", n, n+40)
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		for _, place := range [][]Config{{}, {cfg}, {cfg, exported(o)}, {exported(o)}}[n/40%4] {
			_, err := Compact(t.Context(), compactionOf(place))
			check(t, err)
		}
		_, err := Export(t.Context(), o)
		check(t, err)
		wantExported(t, o, map[string]int{"a": n + 40, "b": n + 40})
		again, err := Export(t.Context(), o)
		if err != nil || again.Done != 0 {
			t.Errorf("a second time it did %+v, %v", again, err)
		}
	}
}

// Environment of a child process that runs a compaction.
const envCompact = "SEINE_TEST_COMPACT" // the writer, as JSON

func compactChild() int {
	var cfg Config
	if err := json.Unmarshal([]byte(os.Getenv(envCompact)), &cfg); err != nil {
		return fail(err)
	}
	o := compactionOf(cfg)
	o.hook = killAt(os.Getenv(envStep))
	if _, err := Compact(context.Background(), o); err != nil {
		return fail(err)
	}
	return 0
}

func startCompact(t *testing.T, cfg Config, env ...string) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(cfg)
	check(t, err)
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(append(os.Environ(), "TMPDIR="+t.TempDir(), envCompact+"="+string(text)), env...)
	c.Stderr = os.Stderr
	check(t, c.Start())
	return c
}

// partitionsToMerge counts the partitions whose last entry is not a merge.
func partitionsToMerge(cfg Config) (n int) {
	all, err := cfg.ReadCommits()
	for i, c := range all {
		if err == nil && !c.Merged && (i+1 == len(all) || all[i+1].Partition != c.Partition) && len(c.Files) > 0 {
			n++
		}
	}
	return n
}

var compactSteps = []string{
	output.StepWrite, output.StepSynced, output.StepRenamed, output.StepFinished, output.StepEntrySynced, output.StepEntryRenamed,
	output.StepCommitted, output.StepRemoved,
}

// Compactions are killed at each step and at random moments, while a writer adds records and is
// killed, too. After each kill readers find every committed record once. At the end they find all
// records once.
func TestCrashOfCompaction(t *testing.T) {
	slow.Skip(t)
	if withRace {
		t.Skip("runs without the race detector")
	}
	for _, o := range []crashTarget{
		{what: "records", where: "directory", place: inDirectory},
		{what: "parquet", where: "directory", place: inDirectory},
		{what: "records", where: "S3", place: inS3},
		{what: "parquet", where: "S3", place: inS3},
	} {
		t.Run(o.what+" in "+o.where, func(t *testing.T) {
			t.Parallel()
			what := contents[o.what]
			bus, cfg := startBus(t, true), what.config(o.place(t))
			feed := &feeder{bus: bus, t: t, what: what}
			kills, seen := 0, make(map[string]bool)
			kill := func(step string) {
				w := startChild(t, bus.NC.ConnectedUrl(), cfg)
				feed.some()
				await.Eventually(t, "commits of each partition", func() bool { return partitionsToMerge(cfg) == partitions })
				c := startCompact(t, cfg, envStep+"="+step)
				after := time.AfterFunc(time.Duration(50+rand.IntN(400))*time.Millisecond, func() {
					if step == "" {
						_ = c.Process.Signal(syscall.SIGKILL)
					}
				})
				switch step {
				case "", "none":
					if err := c.Wait(); err != nil {
						kills++
					}
				default:
					wantKilled(t, c, step)
					kills++
				}
				after.Stop()
				_ = w.Process.Signal(syscall.SIGKILL)
				_ = w.Wait()
				lines := committed(t, cfg)
				now := make(map[string]bool)
				for _, line := range lines {
					if now[line] {
						t.Fatalf("after a kill at %q, %s is there twice", step, line)
					}
					now[line] = true
				}
				for line := range seen {
					if !now[line] {
						t.Fatalf("after a kill at %q, %s is lost", step, line)
					}
				}
				seen = now
			}
			kill("none") // leaves something to merge
			for _, step := range append(compactSteps, "", "", "", "") {
				kill(step)
			}
			t.Logf("%d compactions were killed", kills)
			last := start(t, bus, cfg)
			last.catchUp()
			last.end()
			check(t, startCompact(t, cfg).Wait())
			wantCompacted(t, cfg, feed.n, 0)
		})
	}
}

// Compactions of one S3 output run at the same time as a writer. Some may fail, and no record is
// lost or duplicated.
func TestCompactionsBesideEachOther(t *testing.T) {
	slow.Skip(t)
	cfg := onS3(t, s3server.Start(t))
	cfg.ChunkRecords, cfg.ChunkAge = 10, crawlspec.Duration(100*time.Millisecond)
	bus := startBus(t, false)
	w := start(t, bus, cfg)
	for n := 0; n < 400; n += 40 {
		publish(t, bus, "a", n, n+40)
		publish(t, bus, "b", n, n+40)
		w.catchUp()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _, _ = Compact(t.Context(), compactionOf(cfg)) })
		}
		all.Wait()
	}
	w.end()
	_, err := Compact(t.Context(), compactionOf(cfg))
	check(t, err)
	wantCompacted(t, cfg, 400, 2*partitions)
}

// An owner that was suspended before entries were merged cannot commit in their place.
func TestFrozenOwnerAfterMerge(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{"S3": onS3(t, s3server.Start(t)), "directory": testConfig(t)} {
		cfg.ChunkRecords = 10
		written(t, cfg, 60)
		all, err := cfg.ReadCommits()
		check(t, err)
		_, err = Compact(t.Context(), compactionOf(cfg))
		check(t, err)
		sink, err := openSink(&cfg, quiet(), nil)
		check(t, err)
		for _, old := range all {
			p, _, err := sink.OpenPartition(old.Partition, old.Created)
			check(t, err)
			old.Files = nil
			old.Visits = nil
			old.LastSeq += 100
			if _, err := p.Commit(&old); !errors.Is(err, output.ErrExists) {
				t.Errorf("%s: %s is committed again: %v", name, old.Name(), err)
			}
			check(t, p.Close())
		}
		wantCompacted(t, cfg, 60, 2*partitions)
	}
}

// A compaction interrupted at any step leaves a sound output. The next compaction removes its
// leftovers.
func TestCompactCutAtEachStep(t *testing.T) {
	t.Parallel()
	for _, step := range compactSteps {
		cfg := testConfig(t)
		cfg.ChunkRecords = 10
		written(t, cfg, 60)
		o := compactionOf(cfg)
		passed := 0
		o.hook = func(at string) error {
			if at == step {
				passed++
			}
			if passed >= 3 {
				return errCut
			}
			return nil
		}
		if _, err := Compact(t.Context(), o); !errors.Is(err, errCut) {
			t.Errorf("%s: %v", step, err)
		}
		out := outputOf(t, cfg)
		want, err := out.Expect("")
		check(t, err)
		out.ExpectManifested(want)
		r, err := out.Check(t.Context(), want)
		check(t, err)
		if len(r.Problems) > 0 || r.Records != 120 {
			t.Errorf("%s: %+v", step, r)
		}
		if left := step == output.StepCommitted || step == output.StepRemoved || step == output.StepEntryRenamed; left && r.Merging == 0 {
			t.Errorf("%s: no file is told to be left over", step)
		}
		wantExactly(t, cfg, map[string]int{"a": 60, "b": 60})
		_, err = Compact(t.Context(), compactionOf(cfg))
		check(t, err)
		wantCompacted(t, cfg, 60, 2*partitions)
	}
}
