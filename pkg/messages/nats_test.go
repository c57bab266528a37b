package messages_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/natstest"
	. "seine/pkg/messages"
)

// startJetStream returns the JetStream of a test server with the streams of Seine.
func startJetStream(t *testing.T) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Streams(DefaultStreamLimits(), 1) {
		if _, err := js.CreateStream(t.Context(), c); err != nil {
			t.Fatalf("stream %s: %v", c.Name, err)
		}
	}
	return js
}

// sent publishes m and returns the stored message.
func sent(t *testing.T, js jetstream.JetStream, m *nats.Msg) *jetstream.RawStreamMsg {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ack, err := js.PublishMsg(ctx, m)
	if err != nil {
		t.Fatalf("publish to %s: %v", m.Subject, err)
	}
	s, err := js.Stream(ctx, ack.Stream)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := s.GetMsg(ctx, ack.Sequence)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestPageOverNATS(t *testing.T) {
	js := startJetStream(t)
	for name, url := range map[string]string{
		"ASCII": "https://example.org/a?b=c", "not ASCII": "https://example.org/é/漢/🎣?q=\u2028", "a tab": "https://example.org/\t\x7f",
	} {
		t.Run(name, func(t *testing.T) {
			pg := &Page{
				Crawl: "default", URL: url, Visit: Visit{HashURL(url), 1}, Attempt: 1, Status: 200,
				ContentType: "text/html; charset=\"Кириллица\"", FetchedAt: time.Now().UTC().Round(0),
				Header:   map[string][]string{"X-Été": {"ça", " spaces at both ends ", "line\r\nbreak"}, "Set-Cookie": {"a=1", "b=2"}},
				BodySize: 4,
			}
			raw := sent(t, js, pg.Msg(2, []byte("\x00\xff\r\n")))
			got, err := DecodePage(raw.Header)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, pg) || !bytes.Equal(raw.Data, []byte("\x00\xff\r\n")) {
				t.Errorf("came back as %+v with %q", got, raw.Data)
			}
		})
	}
}

// The largest inline body fits under NATS's default limit.
func TestPageOfInlineSize(t *testing.T) {
	js := startJetStream(t)
	pg := &Page{Crawl: "default", URL: "https://example.org/", Visit: Visit{HashURL("https://example.org/"), 1}, Attempt: 1}
	pg.Header = map[string][]string{"X": {strings.Repeat("x", 60_000)}}
	pg.Header[HeaderRobots] = []string{"noindex"}
	raw := sent(t, js, pg.Msg(0, make([]byte, InlineBody)))
	if len(raw.Data) != InlineBody {
		t.Errorf("%d bytes arrived", len(raw.Data))
	}
	if got, err := DecodePage(raw.Header); err != nil || got.Header[HeaderRobots] == nil {
		t.Errorf("the page lost what the parser must know: %v, %v", got, err)
	}
}

func TestDeadOverNATS(t *testing.T) {
	js := startJetStream(t)
	d := &Dead{
		Stage: StageParser, Crawl: "news", Reason: "line one\nline two\x00\xff " + strings.Repeat("long ", 1000),
		Subject: "seine.pages.news.3", Stream: StreamPages, Sequence: 12, Tries: 5, Stored: time.UnixMicro(1),
		Time: time.Date(2026, 11, 20, 10, 0, 0, 5, time.FixedZone("CET", 3600)),
		Header: nats.Header{
			nats.MsgIdHdr: {"news.x.1"}, "X-Several": {"a", "b", "c"}, HeaderPage: {`{"v":1}`},
			// Publish options for the original stream.
			nats.ExpectedStreamHdr: {StreamPages}, nats.ExpectedLastSeqHdr: {"11"},
		},
		Payload: []byte("body"),
	}
	original := len(d.Header)
	raw := sent(t, js, d.Msg())
	for k, want := range map[string]string{
		nats.MsgIdHdr: "parser.PAGES.12.1.0", HeaderDeadID: "news.x.1", HeaderDeadStage: "parser",
		HeaderDeadSubject: "seine.pages.news.3", HeaderDeadStream: "PAGES", HeaderDeadSequence: "12",
		HeaderDeadTries: "5", HeaderDeadTime: "2026-11-20T09:00:00.000000005Z", HeaderPage: `{"v":1}`,
	} {
		if got := raw.Header.Get(k); got != want {
			t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	if got := raw.Header.Values("X-Several"); !reflect.DeepEqual(got, []string{"a", "b", "c"}) {
		t.Errorf("several values came back as %q", got)
	}
	reason := raw.Header.Get(HeaderDeadReason)
	if !strings.HasPrefix(reason, "line one line two \ufffd long") || len(reason) > MaxText {
		t.Errorf("reason of %d bytes: %.60q", len(reason), reason)
	}
	if raw.Subject != "seine.dead.parser.news" || string(raw.Data) != "body" {
		t.Errorf("%q on %s", raw.Data, raw.Subject)
	}
	if len(d.Header) != original || d.Header.Get(nats.MsgIdHdr) != "news.x.1" {
		t.Errorf("the original header was changed: %v", d.Header)
	}
	d.Crawl, d.Part = "Not A Crawl", 3
	if m := d.Msg(); m.Subject != "seine.dead.parser.default" || m.Header.Get(nats.MsgIdHdr) != "parser.PAGES.12.1.3" {
		t.Errorf("%s with id %s", m.Subject, m.Header.Get(nats.MsgIdHdr))
	}
}

// The streams behind buckets and object stores are those that a client creates for their
// configuration, and NATS accepts every name that CheckCrawl accepts as a key.
func TestStreamsOfBucketsAreThoseOfClients(t *testing.T) {
	js := startJetStream(t)
	limits := DefaultStreamLimits()
	limits.SnapshotsBytes = 1 << 30
	for _, want := range AllStreams(limits, 1) {
		bucket, isBucket := strings.CutPrefix(want.Name, "KV_")
		store, isStore := strings.CutPrefix(want.Name, "OBJ_")
		if !isBucket && !isStore {
			continue
		}
		if _, err := js.CreateStream(t.Context(), want); err != nil {
			t.Fatalf("%s: %v", want.Name, err)
		}
		var err error
		if isBucket { // a client takes one that is the same for its own
			c := jetstream.KeyValueConfig{
				Bucket: bucket, Description: want.Description, History: uint8(want.MaxMsgsPerSubject), TTL: want.MaxAge, MaxBytes: want.MaxBytes, Metadata: want.Metadata,
			}
			var kv jetstream.KeyValue
			if kv, err = js.CreateKeyValue(t.Context(), c); err == nil {
				_, err = kv.Put(t.Context(), "0-_z", nil)
			}
		} else {
			_, err = js.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: store, Description: want.Description, MaxBytes: want.MaxBytes, Metadata: want.Metadata})
		}
		if err != nil {
			t.Errorf("%s: %v", want.Name, err)
		}
	}
}

// PartitionConsumers of one stream may coexist, and NATS accepts their names.
func TestConsumers(t *testing.T) {
	js := startJetStream(t)
	for p := range 3 {
		for stream, c := range map[string]jetstream.ConsumerConfig{
			StreamURLs: PartitionConsumer(ConsumerURLs, "urls", p), StreamResults: PartitionConsumer(ConsumerResults, "results", p),
			StreamRecords: PartitionConsumer(ConsumerWriter+"-x", "records", p),
		} {
			if _, err := js.CreateConsumer(t.Context(), stream, c); err != nil {
				t.Errorf("%s on %s: %v", c.Durable, stream, err)
			}
		}
	}
	for stream, c := range map[string]jetstream.ConsumerConfig{
		StreamFetch: WorkConsumer(ConsumerFetch, "", 100), StreamPages: WorkConsumer(ConsumerParse, "", 100),
		StreamSeeds: WorkConsumer(ConsumerSeeds, "", 100),
	} {
		if _, err := js.CreateConsumer(t.Context(), stream, c); err != nil {
			t.Errorf("%s on %s: %v", c.Durable, stream, err)
		}
	}
	_, err := js.CreateConsumer(t.Context(), StreamFetch, WorkConsumer("second", "", 1))
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second consumer on the work queue: %v", err)
	}
}
