package messages

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"
)

// Whatever its content, an encoded record is one line of JSON that encoding/json decodes, with the
// same meaning as the output of encoding/json.
func FuzzRecordJSON(f *testing.F) {
	f.Add("title", "text\nwith \"quotes\" and \\ and \x01 and \u2028 and é and \xff")
	f.Fuzz(func(t *testing.T, title, text string) {
		r := Record{
			URL: "https://a.test/", Status: 200, Title: title, Text: text, NoIndex: true, Depth: 3,
			FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 123_456_000, time.UTC), Crawl: "c", Visit: Visit{HashURL("https://a.test/"), 1},
		}
		line := r.Encode()
		if strings.ContainsAny(string(line), "\n\r") {
			t.Fatalf("more than one line: %q", line)
		}
		var got, want map[string]any
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		byLibrary, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(byLibrary, &want); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("members %v, want %v", got, want)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s is %q, want %q", k, got[k], v)
			}
		}
	})
}

// A field whose name differs in case, or is escaped, is not one of Seine's.
func TestNamesOfMessagesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		namesAreExact(t, DecodeResult, genResult(t).Encode())
		namesAreExact(t, DecodeRequest, genRequest(t).Encode())
		namesAreExact(t, DecodeCandidates, genCandidates(t).Encode())
		namesAreExact(t, readPage, genPage(t).Msg(0, nil).Header.Get(HeaderPage))
	})
}

func readPage(text []byte) (*Page, error) {
	return DecodePage(nats.Header{HeaderPage: {string(text)}})
}

// namesAreExact adds members to a message whose names encoding/json would match with its fields.
func namesAreExact[T any, B ~string | ~[]byte](t *rapid.T, read func([]byte) (*T, error), text B) {
	want, err := read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	strange := strings.TrimSuffix(string(text), "}") + `,"CRAWL":"other","\u0055RL":1,"Visit":[],"V":7}`
	if got, err := read([]byte(strange)); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\ngot  %+v, %v\nwant %+v", strange, got, err, want)
	}
}

// A text that nests deeper than encoding/json allows is refused, wherever it is.
func TestMessageThatNestsTooDeepIsRefused(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for _, name := range []string{"more", "timings", "urls"} {
		if _, err := DecodeResult([]byte(`{"v":1,"` + name + `":` + deep + `}`)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	visit := Visit{HashURL(testURL), 1}
	pg := &Page{
		V: Version, Crawl: "default", Rev: 1, URL: testURL, Visit: visit, Attempt: 1, Depth: 2, Referrer: testURL, Status: 200,
		ContentType: "text/html; charset=utf-8", FetchedAt: at, BodySize: 14_000, IP: "127.0.0.1", Protocol: "HTTP/1.1",
		Header: map[string][]string{
			"Accept-Ranges": {"bytes"}, "Content-Length": {"14000"}, "Content-Type": {"text/html; charset=utf-8"},
			"Date": {"Sat, 21 Nov 2026 16:41:57 GMT"}, "Last-Modified": {"Tue, 13 May 2026 08:00:00 GMT"},
		}, Timings: Timings{FirstByte: 1e6, Total: 2e6}, Digest: strings.Repeat("0a", 16),
	}
	text := Encode(pg)
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if _, err := readPage(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("page by encoding/json", func(b *testing.B) {
		for b.Loop() {
			var pg Page
			if err := json.Unmarshal(text, &pg); err != nil {
				b.Fatal(err)
			}
		}
	})
}
