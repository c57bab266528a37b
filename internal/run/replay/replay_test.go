package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func TestChoiceOfPages(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.page("a", "http://one.test/1", 1)
	k.page("a", "http://one.test:8080/2", 1)
	k.page("b", "http://two.test/3", 1)
	moment := TimeSpec(time.Now().Format(time.RFC3339Nano))
	k.page("b", "http://one.test/4", 1)
	all := map[string]int{"one.test/1 Round 1": 1, "one.test:8080/2 Round 1": 1, "two.test/3 Round 1": 1, "one.test/4 Round 1": 1}
	for name, tt := range map[string]struct {
		choice Selection
		want   []string // prefixes of the wanted keys of all
	}{
		"everything":    {Selection{}, []string{""}},
		"crawl":         {Selection{Crawl: "b"}, []string{"two.test/3", "one.test/4"}},
		"host":          {Selection{Host: "One.Test"}, []string{"one.test"}},
		"host and port": {Selection{Host: "one.test:8080"}, []string{"one.test:8080"}},
		"since":         {Selection{Since: moment}, []string{"one.test/4"}},
		"until":         {Selection{Until: moment}, []string{"one.test/1", "one.test:8080", "two.test"}},
		"sequence":      {Selection{FromSeq: 2, Crawl: "a"}, []string{"one.test:8080"}},
		"nothing":       {Selection{Crawl: "c"}, nil},
		"later":         {Selection{FromSeq: 5}, nil},
		"an age":        {Selection{Since: "1d2h", Until: "0s"}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kit{t: t, bus: k.bus, out: filepath.Join(t.TempDir(), "out")}
			want := maps.Clone(all)
			maps.DeleteFunc(want, func(url string, _ int) bool {
				for _, w := range tt.want {
					if strings.HasPrefix(url, w) {
						return false
					}
				}
				return true
			})
			o := k.options()
			o.Choice = tt.choice
			r := k.run(o)
			if len(want) > 0 && !maps.Equal(k.urls(), want) {
				t.Errorf("replayed %v, want %v", k.urls(), want)
			}
			if n := int64(len(want)); r.Chosen != n || r.Parsed != n || r.Records != n || r.Gone != 0 {
				t.Errorf("%d were chosen, and the report says %+v", n, r)
			}
		})
	}
}

// The host of a record comes from its url field, even if it has a field named URL.
func TestChoiceOfRecordsGoesByTheExactName(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for i, line := range []string{
		`{"url":"http://one.test/1","title":"r","URL":"http://two.test/"}`, `{"url":"http://two.test/2","title":"r","Url":"http://one.test/"}`,
		`{"URL":"http://one.test/3","title":"r"}`,
	} {
		k.publish(k.bus, messages.RecordMsg("a", messages.Partition("http://one.test/", partitions), fmt.Sprint(i), []byte(line)))
	}
	o := k.options()
	o.Stream, o.Choice = messages.StreamRecords, Selection{Host: "one.test"}
	if r := k.run(o); r.Records != 1 || len(k.urls()) != 1 {
		t.Errorf("chose %v: %+v", k.urls(), r)
	}
}

func TestBadChoices(t *testing.T) {
	for said, c := range map[string]Selection{
		"--crawl":            {Crawl: "No Name"},
		"--host":             {Host: "a.test/path"},
		"use one of them":    {Since: "1h", FromSeq: 2},
		"is not after":       {Since: "1h", Until: "2h"},
		"--since \"monday\"": {Since: "monday"},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%+v: %v, want something with %s", c, err, said)
		}
	}
}

// Pages that the crawl's janitor purges during a replay are counted.
func TestPurgedPagesAreCounted(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for i := range 10 {
		k.page("a", fmt.Sprintf("http://one.test/%d", i), 1)
	}
	k.purge(3)
	r := &replay{Options: k.options(), began: time.Now()}
	r.Writer.Name, r.Writer.State = WriterName, writerDir(r.State)
	k.must(r.open(t.Context()))
	k.purge(6)
	report, err := r.run(t.Context())
	r.close()
	k.must(err)
	if report.FirstSeq != 3 || report.Gone != 3 || report.Chosen != 5 || report.Records != 5 {
		t.Errorf("of pages 6 to 10, when there had been 3 to 10: %+v", report)
	}
}

// purge removes the messages before a sequence from PAGES.
func (k *kit) purge(from uint64) {
	k.t.Helper()
	s, err := k.bus.JS.Stream(k.t.Context(), messages.StreamPages)
	k.must(err)
	k.must(s.Purge(k.t.Context(), jetstream.WithPurgeSequence(from)))
}

// Pages that cannot be parsed are counted by reason and listed in a file.
func TestWhatCannotBeParsedIsCounted(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.page("a", "http://one.test/1", 1)
	for i := range 2 {
		k.page("a", fmt.Sprintf("http://one.test/gone%d", i), 1, func(p *messages.Page) { p.BodyObject = "gone" })
	}
	k.publish(k.bus, &nats.Msg{Subject: messages.SubjectPages("a", 0), Data: []byte("no page")})
	o := k.options()
	r := k.run(o)
	if r.Chosen != 4 || r.Parsed != 1 || r.Unparsed != 3 || r.Records != 1 || len(r.Dead) != 2 {
		t.Fatalf("of a page, two without a body and what is no page: %+v", r)
	}
	if d := r.Dead[0]; d.Count != 2 || d.Stage != messages.StageParser || !strings.Contains(d.Reason, "no longer in the object store") || !strings.Contains(d.URL, "/gone") {
		t.Errorf("the most frequent reason is %+v", d)
	}
	letters, err := os.ReadFile(r.Letters)
	k.must(err)
	for seq := 2; seq <= 4; seq++ {
		if n := strings.Count(string(letters), fmt.Sprintf(`"sequence":%d,`, seq)); n != 1 {
			t.Errorf("the file tells %d times of message %d: %s", n, seq, letters)
		}
	}
	left, err := filepath.Glob(filepath.Join(o.State, "*"))
	k.must(err)
	if len(left) != 2 {
		t.Errorf("%v is left of a replay that is complete", left)
	}
}

// Records that replace each other are written in the order of their pages, although many are parsed
// at a time and the second to last takes longer.
func TestLaterPageOfAURLIsWrittenLater(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	const rounds, urls = 10, 3
	for round := 1; round <= rounds; round++ {
		for u := range urls {
			text := strings.Repeat("word ", 140_000*(round%2))
			k.store("a", fmt.Sprintf("http://one.test/%d", u), round, fmt.Sprintf("<title>Round %d</title><p>%s", round, text))
		}
	}
	o := k.options()
	o.Writer.Format, o.Writer.Key = "objects", "{url_hash}.json"
	if r := k.run(o); r.Records != rounds*urls {
		t.Errorf("%+v, want %d records", r, rounds*urls)
	}
	files, err := filepath.Glob(filepath.Join(k.out, "*.json"))
	k.must(err)
	if len(files) != urls {
		t.Errorf("%d objects, want %d", len(files), urls)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		k.must(err)
		if want := fmt.Sprintf(`"Round %d"`, rounds); !strings.Contains(string(text), want) {
			t.Errorf("the object is not of %s: %s", want, text)
		}
	}
}

// The stream has a record twice if it came again after JetStream's duplicate window.
func TestRepeatedRecordsAreWrittenOnce(t *testing.T) {
	k := newKit(t)
	k.forgetful(k.bus, messages.StreamRecords)
	record := func(i int) {
		m := messages.RecordMsg("a", i%partitions, fmt.Sprint(i), fmt.Appendf(nil, `{"url":"http://one.test/%d","title":"r"}`, i))
		k.publish(k.bus, m)
	}
	for range 2 {
		for i := range 70 { // more than a batch
			record(i)
		}
	}
	k.publish(k.bus, &nats.Msg{Subject: messages.SubjectRecords("a", 0), Data: []byte("no record")})
	o := k.options()
	o.Stream = messages.StreamRecords
	r := k.run(o)
	if r.Chosen != 141 || r.Records != 70 || r.Repeats != 70 || len(r.Dead) != 1 || r.Dead[0].Stage != messages.StageWriter {
		t.Errorf("of 70 records that are there twice, and one that is none: %+v", r)
	}
	for url, n := range k.urls() {
		if n != 1 {
			t.Errorf("%s is there %d times", url, n)
		}
	}
}

// Selected, written, repeated and abandoned records of batches are counted individually, for one
// host or for all.
func TestRecordsOfBatchesAreCounted(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	batch := func(from, to int) *nats.Msg {
		var all []*nats.Msg
		for i := from; i < to; i++ {
			all = append(all, messages.RecordMsg("a", 0, fmt.Sprint(i), fmt.Appendf(nil, `{"url":"http://host%d.test/%d","title":"r"}`, i%2, i)))
		}
		return messages.JoinBatch(all)
	}
	k.publish(k.bus, batch(0, 10))
	k.publish(k.bus, batch(5, 13)) // five of them again
	broken := batch(20, 23)
	broken.Header.Set(messages.HeaderBatch, "7")
	k.publish(k.bus, broken)
	o := k.options()
	o.Stream = messages.StreamRecords
	if r := k.run(o); r.Chosen != 19 || r.Records != 13 || r.Repeats != 5 || len(r.Dead) != 1 || len(k.urls()) != 13 {
		t.Errorf("of 13 records, 5 repeats and a broken batch: %+v", r)
	}
	k.out += ".host"
	o = k.options()
	o.Stream, o.Choice = messages.StreamRecords, Selection{Host: "host1.test"}
	if r := k.run(o); r.Chosen != 10 || r.Records != 6 || r.Repeats != 3 || len(k.urls()) != 6 {
		t.Errorf("of 6 records and 3 repeats of the host, and a broken batch: %+v", r)
	}
}

func TestReplayRefusesWhatIsNotItsOwn(t *testing.T) {
	k := newKit(t)
	k.page("a", "http://one.test/1", 1)
	o := k.options()
	k.run(o)

	refuse := func(o Options, words ...string) {
		t.Helper()
		_, err := Run(t.Context(), o)
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("refused with %v, want something with %q", err, w)
			}
		}
	}
	again := o
	again.State = filepath.Join(t.TempDir(), "other")
	refuse(again, "has the commits of another replay", k.out)
	if _, err := os.Stat(again.State); !errors.Is(err, os.ErrNotExist) {
		t.Error("what is refused leaves a state directory")
	}
	other := o
	other.Choice.Host = "one.test"
	refuse(other, "holds another replay", "pages (all)", o.State)
	crawl := o
	crawl.State = t.TempDir()
	k.must(os.WriteFile(filepath.Join(crawl.State, "precious"), nil, 0o600))
	refuse(crawl, "not empty", crawl.State)
}

// Removed commits cannot be written again, because the temporary server has dropped their records.
func TestReplayNoticesThatItsOutputIsGone(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for i := range 3000 { // more than can be done between two progress checks
		k.page("a", fmt.Sprintf("http://one.test/%d", i), 1)
	}
	o := k.options()
	o.Writer.ChunkRecords = 5
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p Progress) {
		if all, _ := filepath.Glob(filepath.Join(k.out, "_commits", "*", "*.json")); len(all) > 0 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	k.must(err)
	if r.Outcome != Interrupted || r.Records == 0 {
		t.Fatalf("interrupted after its first commits: %+v", r)
	}
	k.must(os.RemoveAll(k.out))
	o.Progress = nil
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "files that this replay committed are missing") {
		t.Errorf("goes on with an output that is gone: %v", err)
	}
}

// However full the temporary stream is, and whenever a run is killed, its messages are those made
// from the source, in order, each once.
func TestCopierOutlivesKills(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	const pages, parts = 150, 2
	for i := range pages {
		k.page("a", fmt.Sprintf("http://one.test/%d", i), 1)
	}
	side := k.server(t.TempDir())
	k.must(side.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1))
	to, err := side.JS.Stream(t.Context(), messages.StreamRecords)
	k.must(err)
	c := to.CachedInfo().Config
	c.MaxBytes = 32 << 10
	to, err = side.JS.UpdateStream(t.Context(), c)
	k.must(err)
	src, err := openReplayStream(t.Context(), k.bus, messages.StreamPages, new(Selection))
	k.must(err)
	w, err := src.resolve(t.Context(), new(Selection), time.Now())
	k.must(err)
	file := filepath.Join(t.TempDir(), "position.json")
	newCopier := func() *streamCopier {
		store, err := openRecordStore(t.Context(), side, file, "")
		k.must(err)
		return &streamCopier{from: src, window: w, to: store, workers: 8, prepare: func(_ context.Context, in *stages.Message) (maker, error) {
			return func(ctx context.Context) (all []*nats.Msg, err error) {
				for part := range parts {
					m := nats.NewMsg(messages.SubjectRecords("a", 0))
					m.Data = fmt.Appendf(nil, "%d.%d", in.Sequence, part)
					m.Header.Set(nats.MsgIdHdr, string(m.Data))
					all = append(all, m)
				}
				return all, sleep.For(ctx, time.Duration(in.Sequence%3)*time.Millisecond)
			}, nil
		}}
	}
	var got []string
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ { // the first runs are stopped midway by their deadlines or by a full stream
			soon, cancel := context.WithTimeout(t.Context(), time.Duration(min(i, 20))*time.Second/5)
			c := newCopier()
			err := c.run(soon)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				continue
			}
			if at := c.to.at(); err == nil && (at.Read != pages || at.Chosen != pages) {
				err = fmt.Errorf("it says %+v", at)
			}
			done <- err
			return
		}
	}()
	for seq := uint64(1); seq <= parts*pages; seq++ {
		var m *jetstream.RawStreamMsg
		for m == nil {
			if m, err = to.GetMsg(t.Context(), seq); err != nil {
				k.must(sleep.For(t.Context(), time.Millisecond))
			}
		}
		got = append(got, string(m.Data))
		if seq%20 == 19 {
			k.must(to.Purge(t.Context(), jetstream.WithPurgeSequence(seq))) // the last message read is kept
			k.must(sleep.For(t.Context(), 50*time.Millisecond))
		}
	}
	k.must(<-done)
	for i, text := range got {
		if want := fmt.Sprintf("%d.%d", i/parts+1, i%parts); text != want {
			t.Fatalf("message %d is %s, want %s", i, text, want)
		}
	}
	info, err := to.Info(t.Context())
	k.must(err)
	if info.State.LastSeq != parts*pages {
		t.Errorf("%d messages were stored, want %d", info.State.LastSeq, parts*pages)
	}
}

// The server of a crawl ends with the crawl. The replay continues with another server on the same
// streams.
func TestReplayGoesOnWhenTheCrawlHasEnded(t *testing.T) {
	t.Parallel()
	k := &kit{t: t, out: filepath.Join(t.TempDir(), "out")}
	dir := t.TempDir()
	s, bus := k.start(dir)
	k.bus = bus
	k.must(bus.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1))
	const n = 400 // more than are read ahead of a batch
	for i := range n {
		k.page("a", fmt.Sprintf("http://one.test/%d", i), 1)
	}
	o := k.options()
	o.Ends = true
	r := &replay{Options: o, began: time.Now()}
	r.Writer.Name, r.Writer.State = WriterName, writerDir(r.State)
	k.must(r.open(t.Context()))
	prepare, seen := r.feeder.prepare, 0
	r.feeder.prepare = func(ctx context.Context, m *stages.Message) (maker, error) {
		if seen++; seen == n/2 {
			s.Stop()
			<-ctx.Done() // the messages read ahead are lost
			return nil, ctx.Err()
		}
		return prepare(ctx, m)
	}
	if _, err := r.run(t.Context()); !errors.Is(err, ErrSourceGone) {
		t.Fatalf("the replay ends with %v", err)
	}
	r.close()
	o.Source = k.server(dir)
	o.Source.Layout = bus.Layout
	if r := k.run(o); r.Chosen != n || r.Records != n || r.Gone != 0 {
		t.Errorf("it goes on, and says %+v", r)
	}
}
