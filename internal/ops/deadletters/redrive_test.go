package deadletters

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// letterOf publishes a dead letter as a stage does, with additional headers, and reads it back.
func letterOf(t *testing.T, b *stages.Bus, d messages.Dead, header nats.Header) *DeadLetter {
	t.Helper()
	d.Reason, d.Time = "a test", time.Now()
	m := d.Msg()
	for name, values := range header {
		m.Header[name] = values
	}
	ack, err := b.JS.PublishMsg(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Get(t.Context(), b, ack.Sequence)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func redrive(t *testing.T, b *stages.Bus, l *DeadLetter) error {
	t.Helper()
	r := Redriver{Bus: b}
	return r.Redrive(t.Context(), l)
}

// An operator redrives the content of a dead letter with more permissions than the stage that wrote
// it. So it is sent only to a subject on which that stage reads messages of that crawl.
func TestForgedLettersAreNotSent(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	for i, d := range []messages.Dead{
		{Stage: "parser", Crawl: "shop", Stream: "KV_" + messages.BucketCrawls, Subject: "$KV." + messages.BucketCrawls + ".shop"},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamPages, Subject: messages.SubjectControl},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamPages, Subject: "$KV." + messages.BucketCrawls + ".shop"},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamSeeds, Subject: messages.SubjectSeeds("shop")},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamURLs, Subject: messages.SubjectURLs(messages.SourceLink, "shop", 0)},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamPages, Subject: messages.SubjectPages("other", 0)},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamPages, Subject: "seine.pages.shop.*"},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamPages, Subject: "seine.pages.shop.-1"},
		{Stage: "parser", Crawl: "shop", Stream: messages.StreamPages, Subject: "seine.pages.shop"},
		{Stage: "fetcher", Crawl: "shop", Stream: messages.StreamResults, Subject: messages.SubjectResults("shop", 0)},
		{Stage: "writer", Crawl: "shop", Stream: messages.StreamFetch, Subject: messages.SubjectFetch("shop", 0)},
		{Stage: "custom", Crawl: "shop", Stream: messages.StreamFetch, Subject: messages.SubjectFetch("shop", 0)},
		{Stage: "custom", Crawl: "shop", Stream: messages.StreamSeeds, Subject: messages.SubjectSeeds("shop")},
		{Stage: "frontier", Crawl: "shop", Stream: messages.StreamSeeds, Subject: messages.SubjectSeeds("other")},
	} {
		d.Payload, d.Sequence = []byte(`{"url":"https://a.test/"}`), uint64(i)
		// The header claims another stage; the subject, which the server checks, decides.
		l := letterOf(t, b, d, nats.Header{messages.HeaderDeadStage: {messages.StageFrontier}})
		if err := redrive(t, b, l); !errors.Is(err, ErrForeign) {
			t.Errorf("%s of %s, to %s of stream %s: %v, want ErrForeign", d.Crawl, d.Stage, d.Subject, d.Stream, err)
		}
		if _, err := Get(t.Context(), b, l.Seq); err != nil {
			t.Errorf("the letter is gone: %v", err)
		}
	}
	for _, name := range []string{messages.StreamSeeds, messages.StreamURLs, messages.StreamFetch, messages.StreamPages, messages.StreamResults, messages.StreamRecords} {
		if n := natstest.StreamOf(t, b.JS, name).CachedInfo().State.LastSeq; n != 0 {
			t.Errorf("%s has %d messages, want none", name, n)
		}
	}
}

// Headers that control the server are not sent with a redriven message.
func TestRedrivenMessagesHaveNoHeadersOfNATS(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	l := letterOf(t, b, messages.Dead{
		Stage: "fetcher", Crawl: "shop", Stream: messages.StreamFetch, Subject: messages.SubjectFetch("shop", 0), Sequence: 1,
		Payload: []byte(`{"url":"https://a.test/"}`), Header: nats.Header{"traceparent": {"00-1-2-01"}},
	}, nats.Header{"Nats-Custom": {"x"}, "X-Other": {"x"}})
	if err := redrive(t, b, l); err != nil {
		t.Fatal(err)
	}
	m := lastOf(t, b, messages.StreamFetch)
	if m.Header.Get("traceparent") == "" || m.Header.Get(messages.HeaderRedriven) != "1" {
		t.Errorf("headers %v lack those of the message", m.Header)
	}
	for _, name := range []string{"Nats-Custom", "X-Other", messages.HeaderDeadReason} {
		if m.Header.Get(name) != "" {
			t.Errorf("the message has %s: %v", name, m.Header)
		}
	}
}

// A custom stage may write any payload into a dead letter: the message that the stream has is sent
// instead.
func TestCustomStage_Redriven_StoredMessageSent(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	ack, err := b.JS.Publish(t.Context(), messages.SubjectRecords("shop", 1), []byte(`{"url":"https://a.test/","n":1}`))
	if err != nil {
		t.Fatal(err)
	}
	d := messages.Dead{Stage: "custom", Crawl: "shop", Stream: messages.StreamRecords, Subject: messages.SubjectRecords("shop", 1), Sequence: ack.Sequence, Payload: []byte(`{"forged":true}`)}
	if err := redrive(t, b, letterOf(t, b, d, nats.Header{messages.HeaderRecord: {"forged"}})); err != nil {
		t.Fatal(err)
	}
	if m := lastOf(t, b, messages.StreamRecords); string(m.Data) != `{"url":"https://a.test/","n":1}` || m.Header.Get(messages.HeaderRecord) != "" {
		t.Errorf("%s with %v was sent, want what RECORDS has", m.Data, m.Header)
	}
}

// From a batch only the message of the dead letter is sent; for a dead letter about the batch, all
// of it.
func TestCustomStage_Redriven_MessageOfABatchSent(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	var all []*nats.Msg
	for i := range 3 {
		all = append(all, messages.RecordMsg("shop", 1, fmt.Sprint("shop.", i), fmt.Appendf(nil, `{"url":"https://a.test/","n":%d}`, i)))
	}
	batch := messages.JoinBatch(all)
	ack, err := b.JS.PublishMsg(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	d := messages.Dead{
		Stage: "custom", Crawl: "shop", Stream: messages.StreamRecords, Subject: batch.Subject, Sequence: ack.Sequence,
		Header: all[1].Header, Payload: all[1].Data, InBatch: 1,
	}
	if err := redrive(t, b, letterOf(t, b, d, nil)); err != nil {
		t.Fatal(err)
	}
	m := lastOf(t, b, messages.StreamRecords)
	if string(m.Data) != string(all[1].Data) || m.Header.Get(messages.HeaderBatch) != "" || m.Header.Get(nats.MsgIdHdr) != "shop.1" {
		t.Errorf("%s with %v was sent, want the second record", m.Data, m.Header)
	}
	d.Header, d.Payload, d.InBatch = maps.Clone(batch.Header), batch.Data, 0
	d.Header.Set(nats.MsgIdHdr, "batch.x") // JetStream has not seen this ID
	if err := redrive(t, b, letterOf(t, b, d, nil)); err != nil {
		t.Fatal(err)
	}
	if m := lastOf(t, b, messages.StreamRecords); string(m.Data) != string(batch.Data) || m.Header.Get(messages.HeaderBatch) != "3" {
		t.Errorf("%s with %v was sent, want the batch", m.Data, m.Header)
	}
}

// A dead letter with a nonexistent partition is not sent, because nobody would read its message.
func TestLetterOfNoPartition_NotSent(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t) // with four partitions
	for _, p := range []string{"4", "11", "01", "-1", "x", "*"} {
		d := messages.Dead{Stage: "frontier", Crawl: "shop", Stream: messages.StreamURLs, Subject: "seine.urls.shop." + p, Sequence: 1, Payload: []byte("{}")}
		if err := redrive(t, b, letterOf(t, b, d, nil)); !errors.Is(err, ErrForeign) {
			t.Errorf("partition %s: %v, want ErrForeign", p, err)
		}
	}
}

// If a dead letter was truncated, the message in its stream is sent, not the truncated payload.
func TestShortenedLetterIsSentWhole(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	whole := "https://a.test/" + strings.Repeat("x", 5000)
	ack, err := b.JS.Publish(t.Context(), messages.SubjectSeeds("shop"), []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	l := letterOf(t, b, messages.Dead{Stage: "frontier", Crawl: "shop", Stream: messages.StreamSeeds, Subject: messages.SubjectSeeds("shop"), Sequence: ack.Sequence, Payload: []byte(whole[:4096])}, nats.Header{messages.HeaderDeadSize: {"5015"}})
	if err := redrive(t, b, l); err != nil {
		t.Fatal(err)
	}
	if m := lastOf(t, b, messages.StreamSeeds); m.Sequence == ack.Sequence || string(m.Data) != whole {
		t.Errorf("message %d with %d bytes was sent", m.Sequence, len(m.Data))
	}
}

// A dead letter about one URL in a URLS message sends only that URL.
func TestRefusedURLOfAMessageIsSentAlone(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	c := &messages.Candidates{Crawl: "shop", Source: messages.SourceLink, Referrer: "https://a.test/", Depth: 3, URLs: []messages.Candidate{{URL: "https://a.test/1"}, {URL: "https://b.test/2"}}}
	ack, err := b.JS.Publish(t.Context(), messages.SubjectURLs(messages.SourceLink, "shop", 0), c.Encode())
	if err != nil {
		t.Fatal(err)
	}
	l := letterOf(t, b, messages.Dead{Stage: "frontier", Crawl: "shop", Stream: messages.StreamURLs, Subject: messages.SubjectURLs(messages.SourceLink, "shop", 0), Sequence: ack.Sequence, Payload: []byte("https://b.test/2"), Part: 2}, nil)
	if err := redrive(t, b, l); err != nil {
		t.Fatal(err)
	}
	m := lastOf(t, b, messages.StreamURLs)
	got, err := messages.DecodeCandidates(m.Data)
	if err != nil || len(got.URLs) != 1 || got.URLs[0].URL != "https://b.test/2" || got.Depth != 3 || m.Subject != messages.SubjectURLs(messages.SourceLink, "shop", messages.Partition("https://b.test/2", b.Layout.Partitions)) {
		t.Errorf("%s has %+v (%v), want the URL alone, in its partition", m.Subject, got, err)
	}
}

// Every dead letter is sent to where its stage reads messages. So is that of a page that its parser
// got in memory, although the page is stored where no parser reads.
func TestLetterOfEveryStage_Redriven_WhereItsStageReads(t *testing.T) {
	t.Parallel()
	url := "https://a.test/"
	page := messages.Page{Crawl: "shop", URL: url, Visit: messages.Visit{URL: messages.HashURL(url), Round: 1}, Attempt: 1, FetchedAt: time.Now()}
	p := messages.Partition(url, 4)
	parted := page.Msg(p, []byte("<p>"))
	chained := messages.ChainedMsg(parted)
	answer := page.AnswerMsg(p, 0, []byte("gone"))
	about := []byte(`{"url":"` + url + `"}`)
	links := (&messages.Candidates{Crawl: "shop", Source: messages.SourceLink, URLs: []messages.Candidate{{URL: url}}}).Encode()
	id := parted.Header.Get(nats.MsgIdHdr)
	for name, c := range map[string]struct {
		stage, stream string
		m             *nats.Msg
		part          int // of the message, if the letter has no payload
		want, wantID  string
	}{
		"seed":                   {messages.StageFrontier, messages.StreamSeeds, &nats.Msg{Subject: messages.SubjectSeeds("shop"), Data: about}, 0, messages.SubjectSeeds("shop"), ""},
		"candidates":             {messages.StageFrontier, messages.StreamURLs, &nats.Msg{Subject: messages.SubjectURLs(messages.SourceLink, "shop", p), Data: links}, 0, messages.SubjectURLs(messages.SourceLink, "shop", p), ""},
		"result":                 {messages.StageFrontier, messages.StreamResults, &nats.Msg{Subject: messages.SubjectResults("shop", p), Data: about}, 0, messages.SubjectResults("shop", p), ""},
		"request":                {messages.StageFetcher, messages.StreamFetch, &nats.Msg{Subject: messages.SubjectFetch("shop", p), Data: about}, 0, messages.SubjectFetch("shop", p), ""},
		"request to render":      {messages.StageRenderer, messages.StreamFetch, &nats.Msg{Subject: messages.SubjectRender("shop", p), Data: about}, 0, messages.SubjectRender("shop", p), ""},
		"page":                   {messages.StageParser, messages.StreamPages, parted, 0, parted.Subject, id},
		"record of a page":       {messages.StageParser, messages.StreamPages, parted, 1, parted.Subject, id},
		"record, chained":        {messages.StageParser, messages.StreamPages, chained, 1, parted.Subject, id},
		"record":                 {messages.StageWriter, messages.StreamRecords, &nats.Msg{Subject: messages.SubjectRecords("shop", p), Data: about}, 0, messages.SubjectRecords("shop", p), ""},
		"archived page":          {messages.StageWriter, messages.StreamPages, parted, 0, parted.Subject, id},
		"archived page, chained": {messages.StageWriter, messages.StreamPages, chained, 0, chained.Subject, chained.Header.Get(nats.MsgIdHdr)},
		"archived answer":        {messages.StageWriter, messages.StreamPages, answer, 0, answer.Subject, answer.Header.Get(nats.MsgIdHdr)},
		"custom, chained":        {"custom", messages.StreamPages, chained, 0, chained.Subject, chained.Header.Get(nats.MsgIdHdr)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, b := stagestest.Open(t)
			header := maps.Clone(c.m.Header)
			header.Del(nats.MsgIdHdr) // as long after the message was stored
			ack, err := b.JS.PublishMsg(t.Context(), &nats.Msg{Subject: c.m.Subject, Header: header, Data: c.m.Data})
			if err != nil {
				t.Fatal(err)
			}
			d := messages.Dead{Stage: c.stage, Crawl: "shop", Stream: c.stream, Subject: c.m.Subject, Sequence: ack.Sequence, Header: c.m.Header, Payload: c.m.Data, Part: c.part}
			if c.part > 0 {
				d.Payload = []byte("a record")
			}
			if err := redrive(t, b, letterOf(t, b, d, nil)); err != nil {
				t.Fatal(err)
			}
			m := lastOf(t, b, c.stream)
			if m.Sequence == ack.Sequence || m.Subject != c.want || string(m.Data) != string(c.m.Data) || m.Header.Get(messages.HeaderRedriven) != "1" {
				t.Errorf("message %d on %s with %q and %v was sent, want that of the letter on %s", m.Sequence, m.Subject, m.Data, m.Header, c.want)
			}
			if got := m.Header.Get(nats.MsgIdHdr); got != c.wantID {
				t.Errorf("its identity is %q, want %q", got, c.wantID)
			}
		})
	}
}

// A dead letter that claims to be about a page but names another kind of message is not sent.
func TestLetterOfAnAnswer_Parser_NotSent(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	ack, err := b.JS.Publish(t.Context(), messages.SubjectAnswers("shop", 0), []byte("gone"))
	if err != nil {
		t.Fatal(err)
	}
	for i, subject := range []string{messages.SubjectAnswers("shop", 0), messages.SubjectPages("shop", 0)} {
		l := letterOf(t, b, messages.Dead{Stage: messages.StageParser, Crawl: "shop", Stream: messages.StreamPages, Subject: subject, Sequence: ack.Sequence, Part: 1 + i}, nil)
		if err := redrive(t, b, l); !errors.Is(err, ErrForeign) {
			t.Errorf("a letter of %s: %v, want ErrForeign", subject, err)
		}
	}
}

// Of several dead letters, those that can be sent are sent. The others are counted by reason.
func TestRedriveOrSkip_SomeCannotBeSent_OthersAre(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	request := func(id string, seq uint64) messages.Dead {
		return messages.Dead{
			Stage: messages.StageFetcher, Crawl: "shop", Stream: messages.StreamFetch, Subject: messages.SubjectFetch("shop", 0), Sequence: seq,
			Payload: []byte(`{"url":"https://a.test/"}`), Header: nats.Header{nats.MsgIdHdr: {id}},
		}
	}
	recent := nats.NewMsg(messages.SubjectFetch("shop", 0))
	recent.Header.Set(nats.MsgIdHdr, "recent")
	if _, err := b.JS.PublishMsg(t.Context(), recent); err != nil {
		t.Fatal(err)
	}
	forgotten := request("forgotten", 7)
	forgotten.Payload = nil
	for _, d := range []messages.Dead{request("recent", 1), request("one", 2), forgotten, request("recent", 3), request("two", 4)} {
		letterOf(t, b, d, nil)
	}
	r := Redriver{Bus: b}
	if err := Each(t.Context(), b, Filter{}, func(l *DeadLetter) error { return r.RedriveOrSkip(t.Context(), l) }); err != nil {
		t.Fatal(err)
	}
	err := r.Skipped()
	if r.Sent != 2 || err == nil || !strings.Contains(err.Error(), "2 dead letters not sent (the first is 1): "+ErrTooSoon.Error()) || !strings.Contains(err.Error(), "1 dead letter not sent (the first is 3): "+ErrForgotten.Error()) {
		t.Errorf("%d were sent, and %v", r.Sent, err)
	}
	if c, err := Count(t.Context(), b, Filter{}); err != nil || c.Total != 3 {
		t.Errorf("DEAD has %d letters (%v), want the 3 that were not sent", c.Total, err)
	}
}

// A message that fails again at once is not sent again by the same command.
func TestEach_LettersAddedMeanwhile_NotRead(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	d := messages.Dead{Stage: messages.StageFetcher, Crawl: "shop", Stream: messages.StreamFetch, Subject: messages.SubjectFetch("shop", 0)}
	letterOf(t, b, d, nil)
	n := 0
	err := Each(t.Context(), b, Filter{}, func(*DeadLetter) error {
		n++
		d.Sequence++
		letterOf(t, b, d, nil)
		if n > 3 {
			return errors.New("too many")
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("%d letters were read (%v), want 1", n, err)
	}
}

func lastOf(t *testing.T, b *stages.Bus, stream string) *jetstream.RawStreamMsg {
	t.Helper()
	s := natstest.StreamOf(t, b.JS, stream)
	m, err := s.GetMsg(t.Context(), s.CachedInfo().State.LastSeq)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
