package main

import (
	"context"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"seine/pkg/stages/parser"
)

// eventPages makes a record of each event that a page marks up as h-event (microformats.org).
type eventPages struct{}

// markedEvent is the fields of a record.
type markedEvent struct {
	Name  string `json:"name"`
	Start string `json:"start"`
	Place string `json:"place,omitempty"`
}

// Matches implements parser.Extractor. The parser does not read what an extractor matches, so it matches only pages of events.
func (eventPages) Matches(d *parser.Document) bool {
	path, _, _ := strings.Cut(d.URL, "?")
	return d.MediaType == "text/html" && strings.HasSuffix(path, "/events")
}

// Extract implements parser.Extractor.
func (eventPages) Extract(_ context.Context, d *parser.Document) (*parser.Extract, error) {
	page, err := d.DOM()
	if err != nil {
		return nil, err
	}
	out := &parser.Extract{Title: text(page.Find("title")), Text: text(page.Find("body"))}
	page.Find("a[href]").Each(func(_ int, a *goquery.Selection) { out.Links = append(out.Links, a.AttrOr("href", "")) })
	page.Find(".h-event").Each(func(_ int, e *goquery.Selection) {
		event := markedEvent{text(e.Find(".p-name")), e.Find(".dt-start").AttrOr("datetime", ""), text(e.Find(".p-location"))}
		if event.Name != "" && event.Start != "" {
			out.Records = append(out.Records, parser.ExtractRecord{Kind: "event", Key: event.Start + " " + event.Name, Fields: event})
		}
	})
	return out, nil
}

// text returns the text of the first element, on one line.
func text(s *goquery.Selection) string { return strings.Join(strings.Fields(s.First().Text()), " ") }

var _ parser.Extractor = eventPages{}
