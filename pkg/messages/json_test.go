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
