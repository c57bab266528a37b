package messages

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

const (
	testURL   = "https://example.org/"
	testVisit = "2d8e29b18198d1bac40a1033653a78e4.1"
)

// edited returns a JSON object with some fields replaced; nil removes one.
func edited(base string, with map[string]any) []byte {
	var m map[string]any
	if err := json.Unmarshal([]byte(base), &m); err != nil {
		panic(err)
	}
	for k, v := range with {
		if v == nil {
			delete(m, k)
		} else {
			m[k] = v
		}
	}
	return Encode(m)
}

const visited = `{"v":1,"crawl":"default","url":"` + testURL + `","visit":"` + testVisit + `","attempt":1,"depth":0,
	"class":"ok","status":200,"started":"2026-11-20T10:00:00Z","fetched_at":"2026-11-20T10:00:00Z","body_size":3}`

const candidates = `{"v":1,"crawl":"default","source":"link","depth":1,"urls":[{"u":"https://example.org/a","p":3}],"ends":"` + testVisit + `"}`

func decodePageText(b []byte) (*Page, error) {
	return DecodePage(nats.Header{HeaderPage: {string(b)}})
}

func TestDecodeRefuses(t *testing.T) {
	decoders := map[string]func([]byte) error{
		"request":    func(b []byte) error { _, err := DecodeRequest(b); return err },
		"result":     func(b []byte) error { _, err := DecodeResult(b); return err },
		"page":       func(b []byte) error { _, err := decodePageText(b); return err },
		"candidates": func(b []byte) error { _, err := DecodeCandidates(b); return err },
	}
	for name, d := range decoders {
		base := visited
		if name == "candidates" {
			base = candidates
		}
		if err := d([]byte(base)); err != nil {
			t.Errorf("%s: the base itself: %v", name, err)
		}
		if err := d(edited(base, map[string]any{"later": "field"})); err != nil {
			t.Errorf("%s: a field of a later build: %v", name, err)
		}
	}
	const all, three = "request result page candidates", "request result page"
	many := make([]Candidate, MaxBatchURLs+1)
	tests := []struct {
		of   string
		with map[string]any
		want string // part of the error
	}{
		{all, map[string]any{"v": 2}, "v is 2, this build reads 1: unknown schema version"},
		{all, map[string]any{"v": nil}, "v is 0, this build reads 1"},
		{all, map[string]any{"v": "1"}, "cannot unmarshal string"},
		{all, map[string]any{"crawl": nil}, `crawl name "": crawl name must be`},
		{all, map[string]any{"crawl": "Example"}, `crawl name "Example": crawl name must be 1 to 63 of a-z, 0-9`},
		{all, map[string]any{"crawl": "a.b"}, `crawl name "a.b"`},
		{all, map[string]any{"crawl": strings.Repeat("a", 64)}, "1 to 63"},
		{all, map[string]any{"depth": -1}, "depth -1: must be from 0 to 65535"},
		{all, map[string]any{"depth": 65536}, "depth 65536: must be from 0 to 65535"},
		{three, map[string]any{"url": nil}, "url is missing"},
		{three, map[string]any{"url": "https://example.com/"}, "visit " + testVisit + " is not one of https://example.com/"},
		{three, map[string]any{"visit": nil}, "is not one of " + testURL},
		{three, map[string]any{"visit": "abc"}, `"abc": visit must be 32 hexadecimal digits, a dot and a round from 1`},
		{three, map[string]any{"visit": strings.Replace(testVisit, ".1", ".0", 1)}, "a round from 1"},
		{three, map[string]any{"visit": strings.Replace(testVisit, ".1", ".9223372036854775808", 1)}, "a round from 1"},
		{three, map[string]any{"visit": "zz" + testVisit[2:]}, "32 hexadecimal digits"},
		{three, map[string]any{"attempt": 0}, "attempt 0: must be from 1"},
		{"request", map[string]any{"redirects": -1}, "redirects and run must not be negative"},
		{"request page candidates", map[string]any{"run": -1}, "must not be negative"},
		{"request", map[string]any{"interval_ms": -1}, "-1: want whole milliseconds, from 0"},
		{"request result", map[string]any{"etag": "\"a\"\r\nX: y"}, `validator "\"a\"\r\nX: y": must be printable, of at most 256 bytes`},
		{"request result", map[string]any{"etag": "\x7f"}, "must be printable"},
		{"request result", map[string]any{"etag": strings.Repeat("x", MaxValidator+1)}, "must be printable, of at most 256 bytes"},
		{"request result", map[string]any{"last_modified": "Fri\n"}, `validator "Fri\n": must be printable`},
		{"request result", map[string]any{"last_modified": strings.Repeat("x", MaxValidator+1)}, "of at most 256 bytes"},
		{"result", map[string]any{"digest": "abc"}, `digest "abc": must be 32 hexadecimal digits`},
		{"result", map[string]any{"digest": strings.Repeat("g", 32)}, "must be 32 hexadecimal digits"},
		{"candidates", map[string]any{"content": -1}, "cannot unmarshal number -1"},
		{"candidates", map[string]any{"records": []any{map[string]any{"kind": "product", "n": 0}}}, `records: 0 of kind "product": must be at least 1`},
		{"candidates", map[string]any{"records": []any{map[string]any{"kind": "Product", "n": 1}}}, `records: 1 of kind "Product": must be`},
		{"candidates", map[string]any{"records": make([]KindCount, MaxKinds+1)}, "records: 65 kinds: at most 64"},
		{"request", map[string]any{"delay_ms": -1}, "-1: want whole milliseconds, from 0"},
		{"request", map[string]any{"delay_ms": 1.5}, "1.5: want whole milliseconds, from 0"},
		{"request", map[string]any{"delay_ms": "1s"}, `"1s": want whole milliseconds, from 0`},
		{"request", map[string]any{"delay_ms": 1e15}, "want whole milliseconds"},
		{"result", map[string]any{"class": "fine"}, `unknown class "fine"`},
		{"result", map[string]any{"class": nil}, `unknown class ""`},
		{"result", map[string]any{"bytes_wire": -1}, "bytes_wire -1: must not be negative"},
		{"result", map[string]any{"bytes_body": -1}, "bytes_body -1: must not be negative"},
		{"result", map[string]any{"error": strings.Repeat("x", MaxText+1)}, "error has 1025 bytes: at most 1024"},
		{"page", map[string]any{"body_encoding": "gzip, lzma"}, `unknown body encoding "gzip, lzma"`},
		{"page", map[string]any{"body_size": -1}, "body_size -1: must not be negative"},
		{"candidates", map[string]any{"source": "guess"}, `source "guess": must be seed, link, redirect or unchanged`},
		{"candidates", map[string]any{"source": "unchanged", "page_round": 1}, "source unchanged: must have"},
		{"candidates", map[string]any{"page_part": -1}, "page_part -1"},
		{"candidates", map[string]any{"page_depth": MaxDepth + 1}, "page_depth"},
		{"candidates", map[string]any{"redirects": -1}, "redirects and run must not be negative"},
		{"candidates", map[string]any{"urls": many}, "2001 URLs: at most 2000 in one message"},
		{"candidates", map[string]any{"urls": []any{map[string]any{"u": testURL, "p": 10}}}, "priority 10 of " + testURL + ": must be from 0 to 9"},
		{"candidates", map[string]any{"urls": []any{map[string]any{"u": testURL, "p": -1}}}, "priority -1 of"},
		{"candidates", map[string]any{"ends": "x"}, `"x": visit must be`},
		{"candidates", map[string]any{"parse_error": strings.Repeat("x", MaxText+1)}, "parse_error has 1025 bytes: at most 1024"},
	}
	for _, tt := range tests {
		for _, of := range strings.Fields(tt.of) {
			base := visited
			if of == "candidates" {
				base = candidates
			}
			if of == "result" && tt.with["depth"] != nil {
				continue // a result has no depth
			}
			err := decoders[of](edited(base, tt.with))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "decode "+of+": ") {
				t.Errorf("%s with %v: %v, want ... %s", of, tt.with, err, tt.want)
			}
		}
	}
	for of, d := range decoders {
		for _, text := range []string{"", "null", "[]", "{}", `"x"`, visited + visited, "{", "\xff"} {
			if err := d([]byte(text)); err == nil {
				t.Errorf("%s accepts %q", of, text)
			}
		}
	}
	if _, err := DecodeRequest([]byte(`{"v":7}`)); !errors.Is(err, ErrVersion) {
		t.Errorf("another version: %v", err)
	}
	if _, err := DecodePage(nats.Header{}); err == nil || err.Error() != "decode page: header Seine-Page is missing" {
		t.Errorf("a page without a header: %v", err)
	}
}

func TestCheckCrawl(t *testing.T) {
	for _, ok := range []string{"default", "0", "a-b_c", strings.Repeat("z", 63)} {
		if err := CheckCrawl(ok); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "-a", "_a", "a b", "a.b", "a*", ">", "É", "a\n", strings.Repeat("z", 64)} {
		if err := CheckCrawl(bad); !errors.Is(err, ErrCrawlName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSubjects(t *testing.T) {
	for _, s := range []string{
		SubjectSeeds("c"), SubjectURLs(SourceLink, "c", 1), SubjectFetch("c", 1), SubjectResults("c", 1),
		SubjectPages("c", 1), SubjectAnswers("c", 1), SubjectRecords("c", 1), SubjectDead(StageParser, "c"),
	} {
		if got := CrawlOf(s); got != "c" {
			t.Errorf("crawl of %s: %q", s, got)
		}
	}
	for _, s := range []string{"", "seine", "seine.urls", "other.urls.c.1"} {
		if got := CrawlOf(s); got != "" {
			t.Errorf("crawl of %q: %q", s, got)
		}
	}
	// Every subject that is published to belongs to exactly one stream.
	subjects := map[string]string{
		SubjectSeeds("c"): StreamSeeds, SubjectURLs(SourceLink, "c", 15): StreamURLs, SubjectFetch("c", 0): StreamFetch,
		SubjectResults("c", 0): StreamResults, SubjectPages("c", 0): StreamPages, SubjectAnswers("c", 0): StreamPages, SubjectRecords("c", 0): StreamRecords,
		SubjectDead(StageWriter, "c"): StreamDead,
	}
	for subject, want := range subjects {
		var takers []string
		for _, s := range Streams(DefaultStreamLimits(), 1) {
			if slices.ContainsFunc(s.Subjects, func(filter string) bool { return matches(filter, subject) }) {
				takers = append(takers, s.Name)
			}
		}
		if !slices.Equal(takers, []string{want}) {
			t.Errorf("%s is taken by %v, want %s", subject, takers, want)
		}
	}
}

func matches(filter, subject string) bool {
	f, s := strings.Split(filter, "."), strings.Split(subject, ".")
	return len(f) == len(s) && !slices.ContainsFunc(f, func(tok string) bool {
		return tok != "*" && !slices.Contains(s, tok)
	})
}

func TestClasses(t *testing.T) {
	retried := []Class{
		Throttled, ServerError, RobotsFetched, DNSFailure, ConnectFailure, TLSFailure, Timeout, Stalled, ProtocolError,
		Blocked, ProxyFailure, ClassCancelled,
	}
	for c := range classes {
		if !c.Valid() || c.Retryable() != slices.Contains(retried, c) {
			t.Errorf("%s: valid %v, retryable %v", c, c.Valid(), c.Retryable())
		}
	}
	if Class("").Valid() || Class("OK").Valid() || Class("x").Retryable() {
		t.Error("an unknown class passes")
	}
}

func TestIdentities(t *testing.T) {
	v := Visit{HashURL(testURL), 1}
	if v.String() != testVisit {
		t.Errorf("visit of %s is %s", testURL, v)
	}
	q := Request{Crawl: "c", URL: testURL, Visit: v, Attempt: 2}
	r := Result{Crawl: "c", URL: testURL, Visit: v, Attempt: 2}
	if want := "c." + testVisit + ".2"; q.ID() != want || r.ID() != want {
		t.Errorf("ids %s and %s, want %s", q.ID(), r.ID(), want)
	}
	pg := Page{Crawl: "c", URL: testURL, Visit: v, Attempt: 2}
	rec := Record{Crawl: "c", URL: testURL, Visit: v}
	for _, m := range []*nats.Msg{pg.Msg(4, nil), rec.Msg(4)} {
		if id := m.Header.Get(nats.MsgIdHdr); id != "c."+testVisit {
			t.Errorf("%s has id %s", m.Subject, id)
		}
	}
	if err := CheckRecord(rec.Msg(4).Header, rec.Msg(4).Data); err != nil {
		t.Errorf("our own record: %v", err)
	}
}

func TestCheckRecord(t *testing.T) {
	id := nats.Header{nats.MsgIdHdr: {"x"}}
	tests := []struct {
		header  nats.Header
		payload string
		want    string
	}{
		{id, `{"a":1}`, ""},
		{id, `{}`, ""},
		{nil, `{}`, "record has no Nats-Msg-Id header, which identifies duplicates"},
		{id, ``, "record is not a JSON object"},
		{id, `[]`, "record is not a JSON object"},
		{id, ` {}`, "record is not a JSON object"},
		{id, `{} {}`, "record is not a JSON object"},
		{id, "{\"a\":\n1}", "record has a line break between its fields: send it on one line"},
		{id, "{}\n", "record has a line break between its fields: send it on one line"},
	}
	for _, tt := range tests {
		err := CheckRecord(tt.header, []byte(tt.payload))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%q: %v, want %q", tt.payload, err, tt.want)
		}
	}
}

// A response that is not a page may have another URL than its visit. None has the same identity as
// another: neither two hops nor a robots.txt.
func TestAnswers(t *testing.T) {
	v := Visit{HashURL(testURL), 1}
	ids := make(map[string]bool)
	for n, class := range []Class{Redirect, Gone, RobotsFetched, RobotsFetched} {
		pg := Page{Crawl: "c", URL: "https://other.example/hop", Visit: v, Attempt: 2, Status: 302, Class: class, RequestSize: 3, HeadSize: 4}
		m := pg.AnswerMsg(1, n%2, []byte("reqheadbody"))
		ids[m.Header.Get(nats.MsgIdHdr)] = true
		got, err := DecodePage(m.Header)
		if err != nil || !got.IsAnswer() || m.Subject != "seine.answers.c.1" || !IsAnswer(m.Subject) {
			t.Errorf("%s: %+v, %v", m.Subject, got, err)
		}
	}
	want := map[string]bool{}
	for _, end := range []string{"answer.2.0", "answer.2.1", "robots.2.0", "robots.2.1"} {
		want["c."+v.String()+"."+end] = true
	}
	if !maps.Equal(ids, want) {
		t.Errorf("identities %v, want %v", ids, want)
	}
	page := Page{Crawl: "c", URL: testURL, Visit: v, Attempt: 2}
	if m := page.Msg(1, nil); IsAnswer(m.Subject) || page.IsAnswer() {
		t.Errorf("a page is an answer: %s", m.Subject)
	}
	page.URL = "https://other.example/"
	if _, err := DecodePage(page.Msg(1, nil).Header); err == nil {
		t.Error("a page of another URL than its visit was read")
	}
}
