package messages

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
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
