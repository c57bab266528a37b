package writer

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/testing/await"
	"seine/internal/testing/s3server"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// manifestOf reads the stored manifest. It is nil if there is none.
func manifestOf(t testing.TB, cfg Config, crawl string) *output.Manifest {
	t.Helper()
	store, ok := outputOf(t, cfg).Log.(output.ManifestStore)
	if !ok {
		t.Fatal("the place has no manifests")
	}
	f, err := store.GetManifest(output.ManifestPath(cfg.Name, crawl))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	check(t, err)
	defer f.Close()
	m, err := output.ReadManifest(f)
	check(t, err)
	return m
}

// wantManifest checks that the manifest lists the log's files and records of a crawl.
func wantManifest(t testing.TB, cfg Config, crawl string, records int, complete bool) {
	t.Helper()
	m := manifestOf(t, cfg, crawl)
	if m == nil {
		t.Fatalf("no manifest of %s", crawl)
	}
	var files []string
	var bytes int64
	for _, f := range m.Files {
		files = append(files, f.Path+" "+f.SHA256+" "+f.Commit)
		bytes += f.Bytes
	}
	commits, err := cfg.ReadCommits()
	check(t, err)
	var want []string
	ranges := make(map[string]int)
	for _, c := range commits {
		for _, f := range c.Files {
			if f.Crawl == crawl {
				want = append(want, f.Path+" "+f.SHA256+" "+c.Name().String())
				ranges[c.Name().String()] += f.Records
			}
		}
	}
	slices.Sort(files)
	slices.Sort(want)
	if !slices.Equal(files, want) {
		t.Errorf("the manifest of %s lists %d files, the log has %d", crawl, len(files), len(want))
	}
	if m.Records != int64(records) || m.Bytes != bytes || m.Complete != complete || time.Since(m.Generated) > time.Hour {
		t.Errorf("the manifest of %s says %d records, %d bytes, complete %v; want %d, %d, %v", crawl, m.Records, m.Bytes, m.Complete, records, bytes, complete)
	}
	got := make(map[string]int)
	for _, s := range m.Streams {
		for i, c := range s.Commits {
			got[c.Name] = c.Records
			if i > 0 && c.FirstSeq <= s.Commits[i-1].LastSeq {
				t.Errorf("%s overlaps", c.Name)
			}
		}
	}
	if !maps.Equal(got, ranges) {
		t.Errorf("the manifest of %s has the commits %v, want %v", crawl, got, ranges)
	}
	expected, err := m.Expect()
	check(t, err)
	r, err := outputOf(t, cfg).Check(t.Context(), expected)
	check(t, err)
	for _, p := range r.Problems {
		t.Error(p)
	}
}

// Manifests are stored while a writer runs, when it stops, and by every process that shares the
// work.
func TestManifests(t *testing.T) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) { keepManifests(t, testConfig(t)) })
	t.Run("S3", func(t *testing.T) { keepManifests(t, onS3(t, s3server.Start(t))) })
}

func keepManifests(t *testing.T, cfg Config) {
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 100)
	w := start(t, bus, cfg, func(w *Writer) { w.manifestEvery = 20 * time.Millisecond })
	await.Eventually(t, "a commit", func() bool { return w.Totals().Records > 0 })
	await.Eventually(t, "a manifest while it runs", func() bool {
		m := manifestOf(t, cfg, "a")
		return m != nil && m.Records == 100
	})
	publish(t, bus, "b", 0, 40)
	w.catchUp()
	w.end()
	wantManifest(t, cfg, "a", 100, false)
	wantManifest(t, cfg, "b", 40, false)

	// Another process sees the commits of this one, and that b is complete.
	other := cfg
	other.State = filepath.Join(t.TempDir(), "state")
	w = start(t, bus, other)
	publish(t, bus, "b", 40, 60)
	w.catchUp()
	w.MarkComplete("b")
	w.end()
	wantManifest(t, cfg, "b", 60, true)
	wantManifest(t, cfg, "a", 100, false)

	// It stays complete until there are more records.
	w = start(t, bus, cfg)
	publish(t, bus, "a", 100, 104)
	w.catchUp()
	w.end()
	wantManifest(t, cfg, "b", 60, true)
	w = start(t, bus, cfg)
	publish(t, bus, "b", 60, 64)
	w.catchUp()
	w.end()
	wantManifest(t, cfg, "b", 64, false)
}

// A process killed after its last commit has not stored the manifest of it. The next process does,
// even if it has nothing to commit itself.
func TestManifestOfAProcessThatWasKilled(t *testing.T) {
	t.Parallel()
	bus, cfg := startBus(t, true), testConfig(t)
	publish(t, bus, "a", 0, 100)
	child := startChild(t, bus.NC.ConnectedUrl(), cfg)
	await.Eventually(t, "all commits", func() bool {
		commits, err := cfg.ReadCommits()
		if err != nil { // the directory does not exist yet
			return false
		}
		n := 0
		for _, c := range commits {
			n += c.Records()
		}
		return n == 100
	})
	check(t, child.Process.Kill())
	wantKilled(t, child, "")
	if manifestOf(t, cfg, "a") != nil {
		t.Fatal("there is a manifest already")
	}
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantManifest(t, cfg, "a", 100, false)
}

// Records of several kinds in one file are counted by kind. A replaced object is listed with its
// new contents.
func TestManifestCounts(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	publish(t, bus, "a", 0, 2*slots)
	m := record("a", 2*slots, 200)
	m.Data = append([]byte(`{"kind":"product",`), m.Data[1:]...)
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantManifest(t, cfg, "a", 2*slots+1, false)
	got := manifestOf(t, cfg, "a")
	if want := map[string]int64{"page": 2 * slots, "product": 1}; !maps.Equal(got.Kinds, want) || !slices.Equal(got.Formats, []string{"jsonl.zst"}) {
		t.Errorf("kinds %v, formats %v", got.Kinds, got.Formats)
	}

	cfg = objectsOf("{crawl}/{field:slot}.json")(testConfig(t))
	cfg.Encrypt, cfg.ChangeOutput = []string{testRecipient}, true
	cfg.ChunkRecords, cfg.ChunkAge = slots/partitions, crawlspec.Duration(maxAge) // so that a later commit replaces some
	w = start(t, bus, cfg)
	w.catchUp()
	w.end()
	got = manifestOf(t, cfg, "a")
	if got.FileCount != 2*slots+1 || !got.Encrypted || !slices.Equal(got.Formats, []string{"object"}) {
		t.Errorf("%d files, formats %v", got.FileCount, got.Formats)
	}
	expected, err := got.Expect()
	check(t, err)
	r, err := outputOf(t, cfg).Check(t.Context(), expected)
	check(t, err)
	if r.Files != slots || len(r.Problems) > 0 {
		t.Errorf("%d files, problems %v", r.Files, r.Problems)
	}
}

// The columns of an encrypted file are hidden from readers without the key.
func TestCommitsNameNoColumnsOfEncryptedFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"csv.zst", "parquet"} {
		bus := startBus(t, false)
		cfg := testConfig(t)
		cfg.Format, cfg.Encrypt = name, []string{testRecipient}
		publish(t, bus, "a", 0, 40)
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		if m := manifestOf(t, cfg, "a"); m.Records != 40 || m.Schema != nil {
			t.Errorf("%s: %d records, and the schema is %v", name, m.Records, m.Schema)
		}
		commits, err := cfg.ReadCommits()
		check(t, err)
		for _, c := range commits {
			for _, f := range c.Files {
				if f.Columns != nil {
					t.Errorf("%s: the log has the columns of %s: %v", name, f.Path, f.Columns)
				}
			}
		}
	}
}

// In formats with columns, the manifest has the columns by kind.
func TestManifestHasTheSchema(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"csv.zst", "parquet"} {
		bus := startBus(t, false)
		cfg := testConfig(t)
		cfg.Format = name
		publish(t, bus, "a", 0, 40)
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		wantManifest(t, cfg, "a", 40, false)
		m := manifestOf(t, cfg, "a")
		types := make(map[string]string)
		for _, c := range m.Schema[messages.KindPage] {
			types[c.Name] = c.Type
		}
		if len(m.Schema) != 1 || types["url"] != "text" || types["status"] != "integer" || types["fetched_at"] != "time" || types[format.More] != "json" {
			t.Errorf("%s: the schema is %v", name, m.Schema)
		}
		for _, f := range m.Files {
			if f.Columns != nil {
				t.Errorf("%s: the columns are with each file, too", name)
			}
		}
	}
}
