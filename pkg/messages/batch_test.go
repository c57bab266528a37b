package messages

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

func line(subject, id, data string, headers ...string) *nats.Msg {
	m := nats.NewMsg(subject)
	if id != "" {
		m.Header.Set(nats.MsgIdHdr, id)
	}
	for i := 0; i < len(headers); i += 2 {
		m.Header.Set(headers[i], headers[i+1])
	}
	m.Data = []byte(data)
	return m
}

func TestBatchGivesBackWhatWasJoined(t *testing.T) {
	joined := []*nats.Msg{
		line("seine.records.c.0", "c.1", `{"a":1}`, HeaderRecord, "1"),
		line("seine.records.c.0", "c.2", `{}`, HeaderRecord, "1"),
		line("seine.records.c.0", "c.3", `{"b":"\n"}`, HeaderRecord, "1"),
	}
	batch := JoinBatch(joined)
	if batch.Subject != joined[0].Subject || batch.Header.Get(nats.MsgIdHdr) == "" {
		t.Errorf("subject %s, identity %q", batch.Subject, batch.Header.Get(nats.MsgIdHdr))
	}
	if ids := BatchIDs(batch.Header); !slices.Equal(ids, []string{"c.1", "c.2", "c.3"}) {
		t.Errorf("identities %q", ids)
	}
	parts, err := SplitBatch(batch.Header, batch.Data)
	if err != nil || len(parts) != len(joined) {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for i, part := range parts {
		got := &nats.Msg{Subject: batch.Subject, Header: part.Header}
		if string(part.Data) != string(joined[i].Data) || part.Header.Get(nats.MsgIdHdr) != joined[i].Header.Get(nats.MsgIdHdr) || !BatchesWith(got, joined[i]) {
			t.Errorf("part %d is %q, %q", i, part.Header, part.Data)
		}
	}
	if again := JoinBatch(joined); again.Header.Get(nats.MsgIdHdr) == batch.Header.Get(nats.MsgIdHdr) {
		t.Error("another batch has the same identity")
	}
}

func TestMessageThatIsNoBatchIsItsOnlyPart(t *testing.T) {
	m := line("seine.urls.c.0", "", "{}\n{}")
	parts, err := SplitBatch(m.Header, m.Data)
	if err != nil || len(parts) != 1 || string(parts[0].Data) != "{}\n{}" {
		t.Errorf("%q, %v", parts, err)
	}
	if ids := BatchIDs(line("s", "x", "").Header); !slices.Equal(ids, []string{"x"}) {
		t.Errorf("identities %q", ids)
	}
}

func TestOnlyMessagesWithTheSameHeadersFitTogether(t *testing.T) {
	a := line("seine.records.c.0", "1", "{}", HeaderSpec, "3")
	for name, c := range map[string]struct {
		other *nats.Msg
		want  bool
	}{
		"another identity":     {line("seine.records.c.0", "2", "{}", HeaderSpec, "3"), true},
		"another subject":      {line("seine.records.c.1", "2", "{}", HeaderSpec, "3"), false},
		"no identity":          {line("seine.records.c.0", "", "{}", HeaderSpec, "3"), false},
		"another value":        {line("seine.records.c.0", "2", "{}", HeaderSpec, "4"), false},
		"another header":       {line("seine.records.c.0", "2", "{}", HeaderRecord, "3"), false},
		"one header more":      {line("seine.records.c.0", "2", "{}", HeaderSpec, "3", "A", "b"), false},
		"identity for another": {line("seine.records.c.0", "", "{}", HeaderSpec, "3", "A", "b"), false},
	} {
		if got := BatchesWith(a, c.other); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBatchThatDoesNotHoldWhatItSaysIsRefused(t *testing.T) {
	for name, m := range map[string]*nats.Msg{
		"no number":           line("s", "b", "{}\n{}", HeaderBatch, "two"),
		"more than it holds":  line("s", "b", "{}\n{}", HeaderBatch, "3"),
		"less than it holds":  line("s", "b", "{}\n{}", HeaderBatch, "1"),
		"an identity missing": line("s", "b", "{}\n{}", HeaderBatch, "2", HeaderBatchID, "a"),
		"negative":            line("s", "b", "{}", HeaderBatch, "-1"),
	} {
		if parts, err := SplitBatch(m.Header, m.Data); err == nil || len(parts) > 0 || !strings.Contains(err.Error(), "batch has") {
			t.Errorf("%s: %d parts, %v", name, len(parts), err)
		}
	}
}

func FuzzSplitBatch(f *testing.F) {
	f.Add("2", "a", "b", []byte("{}\n{}"))
	f.Fuzz(func(t *testing.T, n, a, b string, data []byte) {
		h := nats.Header{HeaderBatch: {n}, HeaderBatchID: {a, b}, nats.MsgIdHdr: {"x"}}
		parts, err := SplitBatch(h, data)
		if err != nil || n == "" {
			return
		}
		if len(parts) != 2 || n != fmt.Sprint(len(parts)) && strings.TrimLeft(n, "+0") != "2" {
			t.Fatalf("%d parts of %q", len(parts), n)
		}
		joined := append(append(slices.Clone(parts[0].Data), '\n'), parts[1].Data...)
		if !slices.Equal(joined, data) || len(h) != 3 {
			t.Fatalf("%q and %q of %q", parts[0].Data, parts[1].Data, data)
		}
	})
}
