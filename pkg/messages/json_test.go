package messages

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever is in it, an encoded record is one line of JSON that encoding/json
// reads back, and means what encoding/json would have written.
func FuzzRecordJSON(f *testing.F) {
	f.Add("title", "text\nwith \"quotes\" and \\ and \x01 and \u2028 and é and \xff")
	f.Fuzz(func(t *testing.T, title, text string) {
		r := Record{
			URL: "https://a.test/", Status: 200, Title: title, Text: text, NoIndex: true, Depth: 3,
			FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Crawl: "c", Visit: Visit{HashURL("https://a.test/"), 1},
		}
		line := r.AppendJSON(nil)
		if strings.ContainsAny(string(line), "\n\r") {
			t.Fatalf("more than one line: %q", line)
		}
		var got, want map[string]any
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if err := json.Unmarshal(mustJSON(r), &want); err != nil {
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

// Pages and results are what encoding/json would have made of their tags.
func TestOwnJSONIsAsTheTagsSay(t *testing.T) {
	same := func(t *rapid.T, own []byte, v any) {
		var got, want any
		if err := json.Unmarshal(own, &got); err != nil {
			t.Fatalf("%v in %s", err, own)
		}
		if err := json.Unmarshal(mustJSON(v), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("own %s\nwant %s", own, mustJSON(v))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		pg, r := genPage(t), genResult(t)
		pg.RequestSize, pg.HeadSize = int(rapid.Int64Range(0, 9).Draw(t, "request")), int(rapid.Int64Range(0, 9).Draw(t, "head"))
		pg.Header["Empty"] = []string{}
		if rapid.Bool().Draw(t, "zero") {
			pg, r = &Page{}, &Result{Timings: Timings{DNS: 1}, CrawlDelay: new(Millis)}
		}
		same(t, pg.appendJSON(nil), pg)
		same(t, r.appendJSON(nil), r)
	})
}

// FuzzFlat has requests read by flat as encoding/json reads them.
func FuzzFlat(f *testing.F) {
	r := Request{V: 1, Crawl: "c", Rev: 7, URL: "https://a.test/", Attempt: 1, Once: true, Delay: Millis(time.Second), ETag: "\"é\"", Run: 3, Epoch: 9}
	r.Visit = Visit{HashURL(r.URL), 1}
	f.Add(r.Encode())
	r.ETag = ""
	f.Add(r.Encode())
	for _, text := range []string{`{}`, `{"v":01}`, `{"v":1,}`, `{"v":1}x`, `{"v":1 }`, `{"v":"1"}`, `{"url":1}`, `{"once":false,"V":2}`, `{"depth":-1}`, `{"v":null}`, `{"delay_ms":99999999999999999}`, `{"url":"\u0041"}`, `{"v":1`, `{"v"`, `{"url":"`, `{"rev":1e3}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want Request
		if !flat(b, got.member) {
			return
		}
		if err := json.Unmarshal(b, &want); err != nil || got != want {
			t.Fatalf("%s is read as %+v, want %+v, %v", b, got, want, err)
		}
	})
}

func TestFlatReadsARequest(t *testing.T) {
	r := Request{Crawl: "c", URL: "https://a.test/?a=1", Attempt: 2, Depth: 3, Referrer: "https://a.test/", Delay: Millis(time.Second), Epoch: 9}
	r.Visit = Visit{HashURL(r.URL), 1}
	var got Request
	if !flat(r.Encode(), got.member) || got != r {
		t.Errorf("%s is read as %+v", r.Encode(), got)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := Record{URL: "https://a.test/page.html", Status: 200, Title: "A title", Text: strings.Repeat("Some text of a page, with a \"quote\" & more.\n", 200), FetchedAt: time.Now()}
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(len(r.Text)))
		for b.Loop() {
			_ = r.AppendJSON(make([]byte, 0, len(r.Text)+len(r.Text)/16+1024))
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(r.Text)))
		for b.Loop() {
			_ = mustJSON(&r)
		}
	})
}
