package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/internal/testing/await"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/pgserver"
	"seine/internal/testing/s3server"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jsonl", "jsonl.gz", "jsonl.zst", "json", "csv", "csv.gz", "csv.zst", "parquet"} {
		t.Run(name, func(t *testing.T) {
			bus := startBus(t, false)
			cfg := testConfig(t)
			cfg.Format = name
			publish(t, bus, "a", 0, 500)
			w := start(t, bus, cfg)
			w.catchUp()
			w.end()
			wantExactly(t, cfg, map[string]int{"a": 500})
			wantTidy(t, cfg)
			if got := w.Totals(); got.Records != 500 || got.Files < 8 || got.RawBytes < 500*200 || got.Bytes == 0 {
				t.Errorf("totals %+v", got)
			}
			// A second run on the same state writes nothing twice.
			again := start(t, bus, cfg)
			again.catchUp()
			again.end()
			if got := again.Totals(); got != (Totals{}) {
				t.Errorf("started again, it wrote %+v", got)
			}
		})
	}
}

// Records of a kind and a day go to their own folder.
func TestPath(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	cfg.Path = "{crawl}/{kind}/dt={date}/p{partition}"
	publish(t, bus, "a", 0, 100)
	m := record("a", 100, 200)
	m.Data = append([]byte(`{"kind":"product",`), m.Data[1:]...)
	foreign := record("a", 101, 200)
	foreign.Data = append([]byte(`{"url": "x", "kind" : "Not a name",`), foreign.Data[1:]...)
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m, foreign))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantTidy(t, cfg)
	check(t, Verify(cfg.Out, cfg.Name))
	day := time.Now().UTC().Format(time.DateOnly)
	records := make(map[string]int)
	commits, err := ReadCommits(cfg.Out, cfg.Name)
	check(t, err)
	for _, c := range commits {
		for _, f := range c.Files {
			if want := fmt.Sprintf("a/%s/dt=%s/p%03d", f.Kind, day, c.Partition); path.Dir(f.Path) != want {
				t.Errorf("%s is not in %s", f.Path, want)
			}
			records[f.Kind] += f.Records
		}
	}
	if want := map[string]int{"page": 100, "product": 1, "other": 1}; !maps.Equal(records, want) {
		t.Errorf("records by kind: %v, want %v", records, want)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	w := start(t, bus, cfg)
	publish(t, bus, "a", 0, 8)
	await.Eventually(t, "commits", func() bool { return w.Totals().Records == 8 })
	wantExactly(t, cfg, map[string]int{"a": 8})
	for p := range partitions {
		await.Eventually(t, "acknowledgement", func() bool {
			c, err := bus.JS.Consumer(t.Context(), messages.StreamRecords, fmt.Sprintf("writer-default-%d", p))
			return err == nil && c.CachedInfo().NumAckPending == 0 && c.CachedInfo().AckFloor.Stream > 0
		})
	}
	w.end()
}

// JetStream forgets identities, and a record published again after a purge has another sequence.
// Repeats are dropped within a set, after a commit, and by a writer that must rebuild its index.
func TestRepeats(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	forgetful(t, bus.JS)
	cfg := testConfig(t)
	w := start(t, bus, cfg)
	publish(t, bus, "a", 0, 100)
	w.catchUp()
	publishAgain := func() {
		t.Helper()
		for n := range 100 {
			await.Eventually(t, "forgotten identity", func() bool {
				ack, err := bus.JS.PublishMsg(t.Context(), record("a", n, 200))
				return err == nil && !ack.Duplicate
			})
		}
	}
	publishAgain()
	w.catchUp()
	w.end()
	if got := w.Totals(); got.Records != 100 || got.Repeats != 100 {
		t.Errorf("totals %+v", got)
	}
	check(t, os.RemoveAll(cfg.State))
	w = start(t, bus, cfg)
	publishAgain()
	w.catchUp()
	w.end()
	if got := w.Totals(); got.Records != 0 || got.Repeats != 100 || got.Files != 0 {
		t.Errorf("totals %+v", got)
	}
	wantExactly(t, cfg, map[string]int{"a": 100})
	// A commit of only repeats advances the position.
	again := start(t, bus, cfg)
	again.catchUp()
	again.end()
	if got := again.Totals(); got != (Totals{}) {
		t.Errorf("it read again what was committed: %+v", got)
	}
}

// forgetful makes RECORDS remember identities for the shortest time that the server allows.
func forgetful(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	s, err := js.Stream(t.Context(), messages.StreamRecords)
	check(t, err)
	cfg := s.CachedInfo().Config
	cfg.Duplicates = 100 * time.Millisecond
	_, err = js.UpdateStream(t.Context(), cfg)
	check(t, err)
}

// The same output with another state directory, and the same state with another output: the index
// never makes a writer drop records that its output does not have.
func TestIndexFollowsLog(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 200)
	cfg := testConfig(t)
	run := func(cfg Config) {
		t.Helper()
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		wantExactly(t, cfg, map[string]int{"a": 200})
	}
	run(cfg)
	other := cfg
	other.Out, other.ChangeOutput, cfg.ChangeOutput = filepath.Join(t.TempDir(), "other"), true, true
	run(other)
	run(cfg)
	check(t, os.RemoveAll(cfg.Out))
	run(cfg)
}

// A re-created stream has the same sequences and identities again. Its records are all written, and
// the old output is kept.
func TestStreamMadeAnew(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	w := start(t, bus, cfg)
	var all [][]byte
	for life := range 3 {
		publish(t, bus, "a", 0, 60+life)
		w.catchUp()
		await.Eventually(t, "commit", func() bool { return len(committed(t, cfg)) == (life+1)*60+life*(life+1)/2 })
		check(t, Verify(cfg.Out, cfg.Name))
		commits, err := ReadCommits(cfg.Out, cfg.Name)
		check(t, err)
		var files []byte
		for _, c := range commits {
			files = fmt.Appendf(files, "%v\n", c.Files)
		}
		all = append(all, files)
		if life == 1 { // once while a writer runs, once while none does
			w.end()
		}
		check(t, bus.JS.DeleteStream(t.Context(), messages.StreamRecords))
		check(t, bus.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1))
		if life == 1 {
			w = start(t, bus, cfg)
		}
	}
	w.end()
	for i := range all[1:] {
		for _, line := range strings.Split(strings.TrimSpace(string(all[i])), "\n") {
			if !strings.Contains(string(all[i+1]), line) {
				t.Errorf("committed %s, which is gone", line)
			}
		}
	}
}

// A stream that lost its tail is shorter than the commit log says.
func TestStreamLostTail(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	publish(t, bus, "a", 0, 40)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	// The records at these sequences are in the output, and in no stream.
	commits, err := ReadCommits(cfg.Out, cfg.Name)
	check(t, err)
	for _, c := range commits {
		c.LastSeq += 1000
		text, err := c.Encode()
		check(t, err)
		check(t, os.WriteFile(filepath.Join(cfg.Out, output.CommitsDir, cfg.Name, c.Name().String()+".json"), text, 0o644))
	}
	publish(t, bus, "a", 40, 100)
	for range 2 {
		w = start(t, bus, cfg)
		w.catchUp()
		w.end()
		wantExactly(t, cfg, map[string]int{"a": 100})
		wantTidy(t, cfg)
	}
}

func tempName(file string) string { return "." + file + ".tmp" }

func TestLeftovers(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	publish(t, bus, "a", 0, 40)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	commits, err := ReadCommits(cfg.Out, cfg.Name)
	check(t, err)
	next := commits[0].Name()
	next.First += 5000
	old := next
	old.StreamCreated = "20200101T000000Z"
	remove := []string{
		filepath.Join("a", next.String()+".jsonl.zst"),
		filepath.Join("gone", next.String()+".jsonl"),
		filepath.Join("gone", "deep", next.String()+".jsonl"),
		filepath.Join("a", tempName(next.String()+".jsonl.zst")),
		filepath.Join("a", tempName(old.String()+".jsonl.zst")),
		filepath.Join(output.CommitsDir, cfg.Name, tempName(next.String()+".json")),
	}
	keep := []string{ // not ours, or of a stream that cannot be read again
		filepath.Join("a", old.String()+".jsonl.zst"),
		filepath.Join("a", "notes.txt"),
		filepath.Join("a", next.String()),
		filepath.Join("another", "a", next.String()+".jsonl.zst"), // of the output in this folder
		filepath.Join("another", "a", tempName(next.String()+".jsonl.zst")),
	}
	for _, dir := range []string{filepath.Join("gone", "deep"), filepath.Join("another", "a"), filepath.Join("another", output.CommitsDir, "archive")} {
		check(t, os.MkdirAll(filepath.Join(cfg.Out, dir), 0o755))
	}
	for _, f := range append(slices.Clone(remove), keep...) {
		check(t, os.WriteFile(filepath.Join(cfg.Out, f), []byte("left over"), 0o644))
	}
	w = start(t, bus, cfg)
	publish(t, bus, "a", 40, 80)
	w.catchUp()
	w.end()
	have := files(t, cfg.Out)
	for _, f := range remove {
		if slices.Contains(have, f) {
			t.Errorf("%s is still there", f)
		}
	}
	for _, f := range keep {
		if !slices.Contains(have, f) {
			t.Errorf("%s was removed", f)
		}
	}
	wantExactly(t, cfg, map[string]int{"a": 80})
	found := make(map[string]bool)
	check(t, outputOf(t, cfg).Log.(output.Lister).Files(func(path string, err error) error {
		found[path] = true
		return err
	}))
	if !found["a/notes.txt"] || found["another/a/"+next.String()+".jsonl.zst"] {
		t.Errorf("the files of the output are said to be %v", slices.Sorted(maps.Keys(found)))
	}
}

func TestBadRecords(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	bad := map[string]*nats.Msg{"JSON": record("a", 1, 0), "identity": record("a", 2, 0), "crawl name": record("a", 3, 0), "line break": record("a", 0, 0)}
	bad["JSON"].Data = []byte(`{"half":`)
	bad["JSON"].Header.Set(nats.ExpectedStreamHdr, messages.StreamRecords)
	bad["identity"].Header.Del(nats.MsgIdHdr)
	bad["crawl name"].Subject = "seine.records.A/b.3"
	bad["line break"].Data = []byte("{\n}")
	bad["line break"].Header.Set(nats.MsgIdHdr, "pretty")
	for _, of := range []string{"two marked records", "marked half", "marked without a payload"} {
		bad[of] = record("a", 5, 0)
		bad[of].Header.Set(nats.MsgIdHdr, of)
		bad[of].Header.Set(messages.HeaderRecord, "1")
	}
	bad["two marked records"].Data = []byte("{\"n\":1}\n{\"n\":2}")
	bad["marked half"].Data = []byte(`{"n":1`)
	bad["marked without a payload"].Data = nil
	large := record("a", 5, 0)
	large.Data = []byte("{" + strings.Repeat(" ", 1<<20-300))
	bad["without its payload"] = large
	for _, m := range bad {
		_, err := bus.JS.PublishMsg(t.Context(), m)
		check(t, err)
	}
	publish(t, bus, "b", 0, 40)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"b": 40})
	if got := w.Totals(); got.Bad != int64(len(bad)) {
		t.Errorf("totals %+v", got)
	}
	s, err := bus.JS.Stream(t.Context(), messages.StreamDead)
	check(t, err)
	if n := s.CachedInfo().State.Msgs; n != uint64(len(bad)) {
		t.Errorf("%d dead letters, want %d", n, len(bad))
	}
}

// Committed output can be read back and verified in every format. A malformed record that claims to
// be checked corrupts no file.
func TestWhatIsCommittedIsReadAsItIsVerified(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 20)
	for i, data := range []string{"{\"n\":1}\n{\"n\":2}", "{\"n\":1}\r{\"n\":2}", `{"n":1`, `"n"`, "{}\n", "", `{"n":}`} {
		m := record("a", 0, 0)
		m.Header.Set(nats.MsgIdHdr, fmt.Sprint("bad", i))
		m.Header.Set(messages.HeaderRecord, "1")
		m.Data = []byte(data)
		_, err := bus.JS.PublishMsg(t.Context(), m)
		check(t, err)
	}
	for of, bad := range map[string]int64{"jsonl": 6, "jsonl.zst": 6, "json": 7, "objects": 7, "objects.pretty": 7} {
		cfg := testConfig(t)
		cfg.Name, cfg.Format = strings.ReplaceAll(of, ".", "-"), of
		if strings.HasPrefix(of, "objects") {
			cfg.Key = "{id}.json"
		}
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		o := outputOf(t, cfg)
		check(t, outputtest.Verify(o))
		n := 0
		check(t, o.Commits(func(c *output.Commit) error {
			for i := range c.Files {
				f := &c.Files[i]
				if err := format.ReadFile(o, f, ageencrypt.Identities{}, func([]byte) error { n++; return nil }); err != nil {
					t.Errorf("%s: %s was verified, and cannot be read: %v", of, f.Path, err)
				}
			}
			return nil
		}))
		if got := w.Totals(); got.Bad != bad || n != 27-int(bad) {
			t.Errorf("%s: %d records were read, and the totals are %+v", of, n, got)
		}
	}
}

func TestTornEntry(t *testing.T) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) {
		cfg := testConfig(t)
		tornEntry(t, cfg, func(file string, text []byte) {
			check(t, os.WriteFile(filepath.Join(cfg.Out, file), text, 0o644))
		})
	})
	t.Run("S3", func(t *testing.T) {
		server := s3server.Start(t)
		cfg := onS3(t, server)
		tornEntry(t, cfg, func(file string, text []byte) { server.Put(cfg.Out, file, text) })
	})
}

// tornEntry damages an entry with replace.
func tornEntry(t *testing.T, cfg Config, replace func(file string, text []byte)) {
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 40)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	commits, err := cfg.ReadCommits()
	check(t, err)
	file := filepath.Join(output.CommitsDir, cfg.Name, commits[0].Name().String()+".json")
	whole, err := commits[0].Encode()
	check(t, err)
	visits, _ := json.Marshal(commits[0].Visits)
	for name, text := range map[string]string{
		"empty": "", "half": string(whole[:len(whole)/2]), "zeros": strings.Repeat("\x00", len(whole)),
		"another version": strings.Replace(string(whole), `"v":1`, `"v":9`, 1),
		"fewer visits":    strings.Replace(string(whole), string(visits), `"AAAAAAAAAAAAAAAAAAAAAA=="`, 1),
		"another's":       strings.Replace(string(whole), `"partition":0`, `"partition":1`, 1),
	} {
		replace(file, []byte(text))
		r := start(t, bus, cfg)
		if err := <-r.done; !errors.Is(err, output.ErrCorrupt) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
		if err := outputtest.Verify(outputOf(t, cfg)); !errors.Is(err, output.ErrCorrupt) {
			t.Errorf("%s: verify: %v", name, err)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	publish(t, bus, "a", 0, 40)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	commits, err := ReadCommits(cfg.Out, cfg.Name)
	check(t, err)
	file := filepath.Join(cfg.Out, commits[0].Files[0].Path)
	whole, err := os.ReadFile(file)
	check(t, err)
	changed := slices.Clone(whole)
	changed[len(changed)/2] ^= 1
	for want, text := range map[string][]byte{"bytes, the commit has": whole[1:], "differs from the commit": changed} {
		check(t, os.WriteFile(file, text, 0o644))
		if err := Verify(cfg.Out, cfg.Name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	check(t, os.Remove(file))
	if err := Verify(cfg.Out, cfg.Name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// A full disk makes partitions wait. When there is space, everything is written.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	dir := t.TempDir()
	cfg.Out = filepath.Join(dir, "out")
	var full atomic.Bool
	adapt := func(w *Writer) {
		w.hook = func(step string) error {
			if full.Load() && (step == output.StepWrite || step == output.StepEntrySynced) {
				return syscall.ENOSPC
			}
			return nil
		}
	}
	makeRoom := func() { full.Store(false) }
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err == nil {
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		check(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20-96<<10), 0o644))
		adapt = func(*Writer) {}
		makeRoom = func() { check(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m")) }
	} else {
		t.Logf("no tmpfs (%v), the full disk is pretended", err)
	}
	full.Store(true)
	cfg.Format = "jsonl"
	cfg.ChunkRecords = 5000
	w := start(t, bus, cfg, adapt)
	publish(t, bus, "a", 0, 4000)
	await.Eventually(t, "trouble", func() bool { return errors.Is(w.Err(), syscall.ENOSPC) })
	makeRoom()
	w.catchUp()
	await.Eventually(t, "recovery", func() bool { return w.Err() == nil && w.Totals().Records == 4000 })
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 4000})
	wantTidy(t, cfg)
}

// Two writers with one name share the partitions. When one leaves, the other continues where it
// stopped.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) { twoWriters(t, testConfig(t)) })
	t.Run("S3", func(t *testing.T) { twoWriters(t, onS3(t, s3server.Start(t))) })
	t.Run("SQLite", func(t *testing.T) { twoWriters(t, onSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { twoWriters(t, onPostgres(t, pgserver.Start(t))) })
}

func twoWriters(t *testing.T, cfg Config) {
	bus := startBus(t, false)
	second := cfg
	second.State = filepath.Join(t.TempDir(), "state")
	a := start(t, bus, cfg)
	publish(t, bus, "a", 0, 200)
	a.catchUp()
	b := start(t, bus, second)
	n := 200
	await.Eventually(t, "both at work", func() bool {
		publish(t, bus, "a", n, n+20)
		n += 20
		return a.Totals().Records > 0 && b.Totals().Records > 0
	})
	a.end()
	publish(t, bus, "a", n, n+100)
	n += 100
	b.catchUp()
	b.end()
	wantExactly(t, cfg, map[string]int{"a": n})
	wantTidy(t, cfg)
	names, err := OutputWriters(cfg.Out, cfg.S3)
	if check(t, err); !slices.Equal(names, []string{cfg.Name}) {
		t.Errorf("the writers of %s are %q, want %q", Redact(cfg.Out), names, cfg.Name)
	}
}

// There may be more crawls than open chunks.
func TestManyCrawls(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	want := make(map[string]int)
	for n := range 3 * maxOpen {
		crawl := fmt.Sprintf("c%d", n)
		publish(t, bus, crawl, 0, 8)
		want[crawl] = 8
	}
	cfg.ChunkRecords, cfg.ChunkAge = 10000, crawlspec.Duration(time.Minute)
	var mu sync.Mutex
	most := int64(0)
	var w *running
	ready := make(chan struct{})
	w = start(t, bus, cfg, func(w *Writer) {
		w.hook = func(string) error {
			mu.Lock()
			defer mu.Unlock()
			most = max(most, w.open.Load())
			return nil
		}
		close(ready)
	})
	<-ready
	w.catchUp()
	w.end()
	wantExactly(t, cfg, want)
	if most > maxOpen+partitions {
		t.Errorf("%d chunks were open", most)
	}
	if w.open.Load() != 0 {
		t.Errorf("%d chunks are open at the end", w.open.Load())
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 8)
	refused := func(what string, cfg Config, want ...string) {
		t.Helper()
		w, err := New(cfg, bus)
		check(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err = w.Run(ctx)
		for _, s := range want {
			if err == nil || !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v, want %q", what, err, s)
			}
		}
	}
	cfg := testConfig(t)
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o644))
	c := cfg
	c.Out = file
	refused("out is a file", c, "--out "+file, "not a directory")
	c.Out = filepath.Join(file, "below")
	refused("out below a file", c, "--out "+c.Out, "not a directory")
	c = cfg
	c.State = file
	refused("state is a file", c, "--state "+file)
	c = cfg
	c.Out = "/proc/seine"
	refused("out not writable", c, "--out /proc/seine")

	w := start(t, bus, cfg)
	w.catchUp()
	c = cfg
	c.Out, c.ChangeOutput = filepath.Join(t.TempDir(), "other"), true
	refused("state in use", c, "--state "+cfg.State, "in use by another process")
	w.end()
	c = testConfig(t)
	c.Out, c.Name = cfg.Out, "second"
	cfg.ChangeOutput = true
	refused("out of another writer", c, "--out "+cfg.Out, `"default"`, `"second"`)
	check(t, os.RemoveAll(filepath.Join(cfg.Out, output.CommitsDir)))
	refused("log is gone", cfg, "--out "+cfg.Out, "no commit log")
}

func TestConfig(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	check(t, c.Validate())
	for want, change := range map[string]func(*Config){
		"--out": func(c *Config) { c.Out = "" },
		"--out -: Seine does not write to standard output": func(c *Config) { c.Out = "-" },
		"--state":                            func(c *Config) { c.State = "" },
		"--name":                             func(c *Config) { c.Name = "No" },
		"--format":                           func(c *Config) { c.Format = "xls" },
		"--path":                             func(c *Config) { c.Path = "{kind}" },
		"--key":                              func(c *Config) { c.Key = "{id}.json" }, // not allowed for chunks
		`--key "{crawl}"`:                    func(c *Config) { c.Format, c.Key = "objects", "{crawl}" },
		"--path \"x":                         func(c *Config) { c.Format, c.Path = "objects", "x/{crawl}" },
		"--encrypt":                          func(c *Config) { c.Encrypt = []string{"me"} },
		"--format objects.raw: needs pages":  func(c *Config) { c.Format = "objects.raw" },
		"--format objects: needs records":    func(c *Config) { c.Format, c.From = "objects", "pages" },
		"--from":                             func(c *Config) { c.From = "urls" },
		"--chunk-records":                    func(c *Config) { c.ChunkRecords = 16384 },
		"--chunk-bytes":                      func(c *Config) { c.ChunkBytes = 1 },
		"--chunk-age":                        func(c *Config) { c.ChunkAge = crawlspec.Duration(5 * time.Minute) },
		"--drain":                            func(c *Config) { c.Drain = 0 },
		`--path "{crawl}": must have {kind}`: func(c *Config) { c.Format, c.Path = "parquet", "{crawl}" },
		"--csv-safe":                         func(c *Config) { c.CSVSafe = true },
		"--csv-bom: is for --format":         func(c *Config) { c.Format, c.CSVBOM = "parquet", true },
		"--csv-safe: is for --format":        func(c *Config) { c.Out, c.CSVSafe = "sqlite:x.db", true },

		"--out gs://…: unsupported output":         func(c *Config) { c.Out = "gs://bucket/x" },
		"--out s3:/bucket: unsupported output":     func(c *Config) { c.Out = "s3:/bucket" },
		"--out mysql://…: unsupported output":      func(c *Config) { c.Out = "mysql://me:hidden@host/x" },
		"--out SQLite:shop.db: unsupported output": func(c *Config) { c.Out = "SQLite:shop.db" },
		`--out "s3://B"`:                           func(c *Config) { c.Out = "s3://B" },
		`--out "s3://b1b/x//y"`:                    func(c *Config) { c.Out = "s3://b1b/x//y" },
		"--s3-…":                                   func(c *Config) { c.S3.Region = "x" },
		"--s3-endpoint":                            func(c *Config) { c.Out, c.S3.Endpoint = "s3://bucket", "localhost:1" },
		"--s3-endpoint: must not contain credentials": func(c *Config) {
			c.Out, c.S3.Endpoint = "s3://bucket", "http://a:b@localhost"
		},
		`--s3-sse "x"`:           func(c *Config) { c.Out, c.S3.SSE = "s3://bucket", "x" },
		`--s3-storage-class "x"`: func(c *Config) { c.Out, c.S3.StorageClass = "s3://bucket", "x" },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, out := range []string{"./gs://x", "run:2026", "a/b:/c"} {
		c := DefaultConfig()
		c.Out = out
		check(t, c.Validate())
	}
}

// A commit that seems to have failed because its response was lost is no longer reported as trouble
// once the log contains it, even if no more records arrive.
func TestCommitThatNobodyHeardOfIsNoTroubleForLong(t *testing.T) {
	t.Parallel()
	bus, cfg := startBus(t, false), testConfig(t)
	publish(t, bus, "a", 0, 1)
	var lost atomic.Bool
	w := start(t, bus, cfg, func(w *Writer) {
		w.hook = func(step string) error {
			if step == output.StepEntryRenamed && lost.CompareAndSwap(false, true) {
				return errors.New("the answer is lost")
			}
			return nil
		}
	})
	await.Eventually(t, "trouble", func() bool { since, _ := w.Trouble(); return !since.IsZero() })
	w.catchUp()
	await.Eventually(t, "recovery", func() bool { return w.Err() == nil })
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 1})
}
