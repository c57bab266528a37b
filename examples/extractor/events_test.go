package main

import (
	"os"
	"path/filepath"
	"testing"

	"seine/internal/run/specfile"
	"seine/pkg/stages/parser"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		url, media string
		want       bool
	}{
		{"https://club.example/feed", "text/calendar", true}, {"https://club.example/events.ICS?season=2026", "application/octet-stream", true},
		{"https://club.example/", "text/html", false}, {"https://club.example/?file=x.ics", "text/html", false},
	} {
		if got := (events{}).Matches(&parser.Document{URL: c.url, MediaType: c.media}); got != c.want {
			t.Errorf("%s as %s: %v", c.url, c.media, got)
		}
	}
}

func TestExtract(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("calendar", "testdata", "club.ics"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := events{}.Extract(t.Context(), &parser.Document{Body: file})
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "Rowing Club, events" || len(got.Records) != 5 || len(got.Links) != 1 {
		t.Errorf("title %q, %d records, links %q", got.Title, len(got.Records), got.Links)
	}
	seen := map[string]bool{}
	for _, r := range got.Records {
		if r.Kind != "event" || r.Key == "" || seen[r.Key] {
			t.Errorf("record %q of kind %q", r.Key, r.Kind)
		}
		seen[r.Key] = true
	}
	if _, err := (events{}).Extract(t.Context(), &parser.Document{Body: []byte("<html>")}); err == nil {
		t.Error("a page that is no calendar gives no error")
	}
}

func TestSpecIsValid(t *testing.T) {
	text, err := os.ReadFile("spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := specfile.Load("spec.yaml", text); err != nil {
		t.Error(err)
	}
}
