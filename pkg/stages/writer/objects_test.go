package writer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/output"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/s3server"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// wantSlots checks objects that records replaced. Each object is the last record of its slot. Every
// record was committed once, as an object or as one that was replaced at once.
func wantSlots(t testing.TB, cfg Config, want map[string]int) {
	t.Helper()
	o := outputOf(t, cfg)
	check(t, outputtest.Verify(o))
	got := make(map[string]int)
	commits, err := cfg.ReadCommits()
	check(t, err)
	paths := make(map[string]output.File)
	for _, c := range commits {
		for ids := range slices.Chunk(c.Visits, output.IdentitySize) {
			got[string(ids)]++
		}
		for _, f := range c.Files {
			paths[f.Path] = f
		}
	}
	for crawl, n := range want {
		for i := range n {
			id := identityOf(fmt.Sprintf("%s.%d", crawl, i))
			if c := got[string(id[:])]; c != 1 {
				t.Errorf("record %d of %s was committed %d times", i, crawl, c)
			}
		}
		for slot := range slots {
			last := slot + (n-1-slot)/slots*slots
			f := paths[fmt.Sprintf("%s/%d.json%s", crawl, slot, map[bool]string{true: ".age"}[len(cfg.Encrypt) > 0])]
			if lines := readLines(t, o, f); len(lines) != 1 || lines[0] != string(record(crawl, last, 200).Data) {
				t.Errorf("slot %d of %s is not record %d: %.60s", slot, crawl, last, lines)
			}
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// Each record becomes a file, and a restarted writer writes none again.
func TestObjects(t *testing.T) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) { makeObjects(t, testConfig(t)) })
	t.Run("S3", func(t *testing.T) { makeObjects(t, onS3(t, s3server.Start(t))) })
}

func makeObjects(t *testing.T, cfg Config) {
	bus := startBus(t, false)
	cfg.Format = "objects"
	publish(t, bus, "a", 0, 60)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 60})
	wantTidy(t, cfg)
	again := start(t, bus, cfg)
	publish(t, bus, "a", 60, 80)
	again.catchUp()
	again.end()
	if got := again.Totals(); got.Records != 20 || got.Files != 20 {
		t.Errorf("started again, it wrote %+v", got)
	}
	wantExactly(t, cfg, map[string]int{"a": 80})
}

func TestObjectsArePretty(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := objectsOf("{crawl}/{field:n}.json")(testConfig(t))
	cfg.Format = "objects.pretty"
	publish(t, bus, "a", 0, 1)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	got, err := os.ReadFile(filepath.Join(cfg.Out, "a", "0.json"))
	check(t, err)
	var want bytes.Buffer
	check(t, json.Indent(&want, record("a", 0, 200).Data, "", "  "))
	if strings.TrimSpace(string(got)) != want.String() {
		t.Errorf("it is\n%s", got)
	}
}

// A record without a key goes to DEAD with the reason, and affects no other record.
func TestRecordsWithoutAKey(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := objectsOf("{crawl}/{key}.json")(testConfig(t))
	var msgs []*nats.Msg
	for n, key := range []string{`"one"`, `null`, `""`, `["x"]`, `"../../up"`, `7`} {
		m := nats.NewMsg(messages.SubjectRecords("a", 0))
		m.Header.Set(nats.MsgIdHdr, fmt.Sprint(n))
		m.Data = fmt.Appendf(nil, `{"n":%d,"key":%s}`, n, key)
		msgs = append(msgs, m)
	}
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), msgs...))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	if got := w.Totals(); got.Records != 3 || got.Bad != 3 {
		t.Errorf("totals %+v", got)
	}
	var have []string
	for _, f := range files(t, cfg.Out) {
		if strings.HasPrefix(f, "a/") {
			have = append(have, f)
		}
	}
	if want := []string{"a/%2E.%2F..%2Fup.json", "a/7.json", "a/one.json"}; !slices.Equal(have, want) {
		t.Errorf("objects %v, want %v", have, want)
	}
	s, err := bus.JS.Stream(t.Context(), messages.StreamDead)
	check(t, err)
	m, err := s.GetLastMsgForSubject(t.Context(), "seine.dead.writer.a")
	check(t, err)
	if why := m.Header.Get("Seine-Dead-Reason"); !strings.Contains(why, `no key: its field "key"`) {
		t.Errorf("the reason is %q", why)
	}
}

// A commit has at most maxObjects objects, even if ChunkRecords is larger.
func TestObjectsOfACommitAreBounded(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := objectsOf("{crawl}/{field:n}.json")(testConfig(t))
	cfg.ChunkRecords, cfg.ChunkAge = 10000, crawlspec.Duration(maxAge)
	var msgs []*nats.Msg
	for n := range maxObjects + 10 {
		msgs = append(msgs, record("a", n*partitions, 0)) // of one partition
	}
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), msgs...))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	commits, err := cfg.ReadCommits()
	check(t, err)
	if len(commits) != 2 || len(commits[0].Files) != maxObjects || len(commits[1].Files) != 10 {
		t.Errorf("%d commits, the first with %d objects", len(commits), len(commits[0].Files))
	}
}

// Encrypted files contain no word of their records, and their names show the encryption.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]content{"chunks": contents["encrypted"], "objects": contents["encrypted slots"]} {
		t.Run(name, func(t *testing.T) {
			bus := startBus(t, false)
			cfg := made.config(testConfig(t))
			if name == "chunks" {
				cfg.Format = "jsonl"
			}
			publish(t, bus, "a", 0, 120)
			w := start(t, bus, cfg)
			w.catchUp()
			w.end()
			made.want(t, cfg, map[string]int{"a": 120})
			wantTidy(t, cfg)
			commits, err := cfg.ReadCommits()
			check(t, err)
			for _, c := range commits {
				for _, f := range c.Files {
					in, err := outputOf(t, cfg).Open(f)
					check(t, err)
					text, err := io.ReadAll(in)
					check(t, errors.Join(err, in.Close()))
					if !strings.HasSuffix(f.Path, ".age") || bytes.Contains(text, []byte("crawl")) {
						t.Errorf("%s is not encrypted", f.Path)
					}
				}
			}
		})
	}
}

// foldingSink is an output with case-insensitive names.
type foldingSink struct{ output.Sink }

func (foldingSink) FoldsCase() bool { return true }

func TestObjectsWhereNamesHaveNoCase(t *testing.T) {
	t.Parallel()
	cfg := objectsOf("{key}.json")(testConfig(t))
	f, err := newFileLayout(&cfg.OutputConfig, nil)
	check(t, err)
	for want, form := range map[string]*fileLayout{"Ab.json": f.fit(nil), "%41b.json": f.fit(foldingSink{})} {
		got, err := form.key.Path(&output.KeyRecord{Data: []byte(`{"key":"Ab"}`)})
		if err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}
