package main

import (
	"reflect"
	"testing"

	"seine/pkg/stages/parser"
)

func TestEventPages(t *testing.T) {
	d := &parser.Document{URL: "https://club.example/events", MediaType: "text/html", Body: []byte(`<!doctype html><title>Club</title><a href=/>Home</a>
<div class=h-event><b class=p-name>Regatta
 2026</b><time class=dt-start datetime=2026-07-04>4 July</time><i class=p-location>Pier</i></div><div class=h-event><b class=p-name>Some day</b></div>`)}
	if !(eventPages{}).Matches(d) || (eventPages{}).Matches(&parser.Document{URL: "https://club.example/", MediaType: "text/html"}) {
		t.Error("it matches other pages")
	}
	got, err := eventPages{}.Extract(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	want := []parser.ExtractRecord{{Kind: "event", Key: "2026-07-04 Regatta 2026", Fields: markedEvent{"Regatta 2026", "2026-07-04", "Pier"}}}
	if !reflect.DeepEqual(got.Records, want) || got.Title != "Club" || !reflect.DeepEqual(got.Links, []string{"/"}) {
		t.Errorf("got %+v", got)
	}
	if _, err := (eventPages{}).Extract(t.Context(), &parser.Document{URL: d.URL, Body: []byte("\x00\x01")}); err == nil {
		t.Error("what is no page gives no error")
	}
}
