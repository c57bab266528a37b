package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/sleep"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/format"
	"seine/internal/testing/natstest"
	"seine/internal/testing/outputtest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

// sendBack stores records in the crawl, as a new run does.
func (k *kit) sendBack(file string, records ...*nats.Msg) *storedRecords {
	k.t.Helper()
	s, err := openRecordStore(k.t.Context(), k.bus, file, "g2")
	k.must(err)
	k.must(s.put(k.t.Context(), records, copyPosition{Sequence: uint64(len(records))}))
	return s.stored.Load()
}

// After a power failure the temporary server may have lost its last messages. The replay continues
// after the original of the last remaining message, whatever the position file says.
func TestCopierGoesBackAfterALossOfPower(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	file := filepath.Join(t.TempDir(), "position.json")
	opened := func() *recordStore {
		s, err := openRecordStore(t.Context(), k.bus, file, "")
		k.must(err)
		return s
	}
	var all []*nats.Msg
	for i := range 6 {
		m := messages.RecordMsg("c", 0, fmt.Sprint(i), fmt.Appendf(nil, `{"url":"http://one.test/%d"}`, i))
		m.Header.Set(headerReplay, fmt.Sprint(10+i, i, 2*i))
		all = append(all, m)
	}
	at := copyPosition{Sequence: 15, Read: 6, Chosen: 12}
	k.must(opened().put(t.Context(), all, at))
	if got := opened().at(); got != at {
		t.Errorf("it goes on at %+v, want %+v", got, at)
	}
	k.must(k.bus.JS.DeleteStream(t.Context(), messages.StreamRecords))
	k.must(k.bus.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1))
	if got := opened().at(); got != (copyPosition{}) {
		t.Errorf("it goes on at %+v, though the stream is empty", got)
	}
	for _, m := range []*nats.Msg{all[0], all[4]} {
		_, err := k.bus.JS.PublishMsg(t.Context(), m)
		k.must(err)
	}
	if got, want := opened().at(), (copyPosition{Sequence: 13, Read: 4, Chosen: 8}); got != want {
		t.Errorf("it goes on at %+v, want %+v", got, want)
	}
}

// Records are sent back under an identity of the generation. A record that is in the stream twice
// is sent and counted once.
func TestRecordsGoBackOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.forgetful(k.bus, messages.StreamRecords)
	file := filepath.Join(t.TempDir(), "sent.json")
	record := func(i int) *nats.Msg {
		kind := []string{"a", "b"}[i%2]
		m := messages.RecordMsg("c", i%partitions, fmt.Sprint(i), fmt.Appendf(nil, `{"kind":"%s","url":"http://one.test/%d"}`, kind, i))
		messages.SetSpecRevision(m, 7) // of the temporary server; the crawl has another revision
		return m
	}
	n := k.sendBack(file, record(0), record(1), record(2), record(0), record(1))
	if n.Records != 3 || n.Kinds["a"] != 2 || n.At.Sequence != 5 {
		t.Errorf("sent %+v, want 3", n)
	}
	n = k.sendBack(file, record(3), record(4))
	if n.Records != 5 || n.Kinds["a"] != 3 || n.Kinds["b"] != 2 {
		t.Errorf("sent %+v, want 5", n)
	}
	s := natstest.StreamOf(t, k.bus.JS, messages.StreamRecords)
	if got := s.CachedInfo().State.LastSeq; got != 5 {
		t.Fatalf("%d records went back, want 5", got)
	}
	for i := range 5 {
		m, err := s.GetMsg(t.Context(), uint64(i)+1)
		k.must(err)
		want := fmt.Sprintf(`{"kind":"%s","url":"http://one.test/%d","generation":"g2"}`, []string{"a", "b"}[i%2], i)
		if string(m.Data) != want || m.Header.Get(nats.MsgIdHdr) != fmt.Sprint(i)+"@g2" || m.Header.Get(messages.HeaderGeneration) != "g2" ||
			messages.SpecRevision(m.Header) != 0 ||
			m.Subject != messages.SubjectRecords("c", i%partitions) {
			t.Errorf("message %d is %s %v %s, want %s", i, m.Subject, m.Header, m.Data, want)
		}
	}
}

// Pages with several records each are parsed again and sent back by interrupted runs. The crawl's
// writer gets each record once, with its generation, and its commits can be read and verified.
func TestAllRecordsOfPagesGoBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	const pages, items = 60, 6
	for i := range pages {
		body := fmt.Sprintf("<title>Page %d</title>", i) + strings.Repeat("<li><b>item</b></li>", items)
		k.store("a", fmt.Sprintf("http://host%d.test/%d", i%7, i), 1, body)
	}
	spec, err := crawlspec.Decode([]byte(`{"v": 1, "page": {"emit": "always"}, "records": [{"kind": "item", "match": ["*"], "each": {"css": "li"}, "fields": {"head": {"css": "b"}}}]}`))
	k.must(err)
	o := k.options()
	o.Writer, o.Spec, o.Beyond, o.Generation = nil, spec, true, "second"
	for tries := 0; ; tries++ {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		o.Progress = func(p Progress) {
			if tries < 2 && p.Records > int64(100*tries) {
				stop()
			}
		}
		r, err := Run(ctx, o)
		stop()
		k.must(err)
		if r.Outcome == Interrupted {
			continue
		}
		if r.Records != pages*(items+1) || r.Kinds["item"] != pages*items || r.Kinds["page"] != pages || r.Generation != "second" {
			t.Errorf("the report is %+v", r)
		}
		break
	}

	w := writer.DefaultConfig()
	w.Out, w.State = k.out, filepath.Join(t.TempDir(), "state")
	k.write(w)
	out, err := writer.OpenOutput(k.out, w.Name, w.S3)
	k.must(err)
	k.must(outputtest.Verify(out))
	visits := make(map[string]int)
	k.must(out.Commits(func(c *output.Commit) error {
		for i := range c.Files {
			k.must(format.ReadFile(out, &c.Files[i], ageencrypt.Identities{}, func(line []byte) error {
				var r struct{ Kind, Visit, Generation string }
				if err := json.Unmarshal(line, &r); err != nil || r.Generation != "second" {
					t.Fatalf("%s: %v", line, err)
				}
				visits[r.Kind+" "+r.Visit]++
				return nil
			}))
		}
		return nil
	}))
	for of, n := range visits {
		if strings.HasPrefix(of, "item ") && n != items || strings.HasPrefix(of, " ") && n != 1 {
			t.Errorf("%d records of %s", n, of)
		}
	}
	if len(visits) != 2*pages {
		t.Errorf("records of %d kinds and visits, want %d", len(visits), 2*pages)
	}
}

// write writes the records of the crawl until there are no more.
func (k *kit) write(c writer.Config) {
	k.t.Helper()
	w, err := writer.New(c, k.bus)
	k.must(err)
	ctx, cancel := context.WithTimeout(k.t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	for over := false; !over; {
		over, err = w.CaughtUp(ctx)
		k.must(err)
		k.must(sleep.For(ctx, 5*time.Millisecond))
	}
	cancel()
	k.must(<-done)
}

// A replay leaves space in RECORDS for the crawl.
func TestRecordsThatGoBackLeaveRoom(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s, err := k.bus.JS.Stream(t.Context(), messages.StreamRecords)
	k.must(err)
	c := s.CachedInfo().Config
	c.MaxBytes = 1 << 20
	s, err = k.bus.JS.UpdateStream(t.Context(), c)
	k.must(err)
	line := fmt.Appendf(nil, `{"url":"http://one.test/","text":"%0*d"}`, 900, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := openRecordStore(t.Context(), k.bus, filepath.Join(t.TempDir(), "sent.json"), "g2")
	k.must(err)
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			err = r.put(ctx, []*nats.Msg{messages.RecordMsg("c", 0, fmt.Sprint(i), line)}, copyPosition{})
		}
		done <- err
	}()
	share := func() float64 {
		info, err := s.Info(ctx)
		k.must(err)
		return float64(info.State.Bytes) / (1 << 20)
	}
	for share() < recordsShare {
		k.must(sleep.For(ctx, 10*time.Millisecond))
	}
	k.must(sleep.For(ctx, 2*recordsWait)) // time enough to send records wrongly
	if full := share(); full > 0.99 {
		t.Errorf("RECORDS is full to %.0f %%, and nobody reads it", 100*full)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A record with a field of that name could not carry its generation.
func TestRecordsWithAGenerationOfTheirOwnDoNotGoBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.page("a", "http://one.test/1", 1)
	spec, err := crawlspec.Decode([]byte(`{"v": 1, "records": [{"kind": "x", "match": ["*"], "fields": {"generation": {"css": "h1"}}}]}`))
	k.must(err)
	o := k.options()
	o.Writer, o.Spec = nil, spec
	r, err := Run(t.Context(), o)
	if err == nil || r.Outcome != Failed || !strings.Contains(err.Error(), `records of kind x have a field "generation"`) {
		t.Errorf("the replay ends with %+v, %v", r, err)
	}
}

// Records with fields that the crawl's spec lacks are not sent back, unless that is requested or
// the spec is applied, because no column would show them.
func TestRecordsBeyondTheSpecDoNotGoBack(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.page("a", "http://one.test/1", 1)
	spec := func(fields string) *crawlspec.Spec {
		s, err := crawlspec.Decode([]byte(`{"v": 1, "page": {"emit": "never"}, "records": [{"kind": "x", "match": ["*"], "fields": {` + fields + `}}]}`))
		k.must(err)
		return s
	}
	specs, err := stages.OpenSpecs(t.Context(), k.bus)
	k.must(err)
	_, err = specs.Put(t.Context(), "a", spec(`"head": {"css": "h1"}, "size": {"css": "h1", "as": "number"}, "n": {"css": "h1", "as": "number"}`))
	k.must(err)
	o := k.options()
	o.Writer, o.Spec = nil, spec(`"head": {"css": "h1"}, "size": {"css": "h1"}, "n": {"css": "h1", "as": "integer"}, "new": {"css": "title"}`)
	o.Spec.Page.Emit, o.Spec.Page.Fields = crawlspec.EmitAuto, crawlspec.Strings{"markdown"} // beside rules, in no record
	r, err := Run(t.Context(), o)
	if err == nil || r.Outcome != Failed || r.Records != 0 || !strings.Contains(err.Error(), "one: x.size as text, not number, x.new; ") {
		t.Errorf("the replay ends with %+v, %v", r, err)
	}
	if _, err := os.Stat(o.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it leaves its state: %v", err)
	}
	beyond := o
	beyond.Beyond, beyond.State = true, filepath.Join(t.TempDir(), "beyond")
	if r := k.run(beyond); r.Records != 1 {
		t.Errorf("beyond the spec: %+v", r)
	}
	_, err = specs.Put(t.Context(), "a", o.Spec)
	k.must(err)
	if r := k.run(o); r.Records != 1 {
		t.Errorf("of a spec that is applied: %+v", r)
	}
}
