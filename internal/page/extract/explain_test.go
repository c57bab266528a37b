package extract

import (
	"slices"
	"testing"

	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

func TestExplain(t *testing.T) {
	spec := crawlspec.Default()
	fields := crawlspec.Fields{{Name: "a", Field: crawlspec.Field{Selector: crawlspec.Selector{CSS: "h1"}}}}
	jq := crawlspec.Fields{{Name: "a", Field: crawlspec.Field{Selector: crawlspec.Selector{JQ: ".a"}}}}
	spec.Records = []crawlspec.RecordRule{
		{Kind: "yes", Fields: fields},
		{Kind: "pattern", Target: crawlspec.Target{Match: crawlspec.Strings{"*/p/*"}}, Fields: fields},
		{Kind: "patterns", Target: crawlspec.Target{Match: crawlspec.Strings{"*/p/*", "*/q/*"}}, Fields: fields},
		{Kind: "type", Fields: jq},
		{Kind: "when", Target: crawlspec.Target{When: &crawlspec.Condition{Selector: crawlspec.Selector{CSS: ".none"}}}, Fields: fields},
	}
	spec.Follow = []crawlspec.FollowRule{{Selector: crawlspec.Selector{CSS: "a"}}}
	rules, err := Compile(&spec)
	if err != nil {
		t.Fatal(err)
	}
	doc := document.New(document.Source{
		URL: "https://example.org/", Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}}, Body: []byte("<h1>x</h1>"),
	})
	got, err := rules.Explain(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	want := []Verdict{
		{"records[0]", "yes", true, ""},
		{"records[1]", "pattern", false, `the URL does not match its pattern "*/p/*"`},
		{"records[2]", "patterns", false, "the URL matches none of its 2 patterns"},
		{"records[3]", "type", false, "it reads json, feed, csv, sitemap, and this is html"},
		{"records[4]", "when", false, "its condition (when) does not hold"},
		{"follow[0]", "", true, ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}
