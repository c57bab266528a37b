package main

import (
	"context"
	"strings"

	"seine/examples/extractor/calendar"
	"seine/pkg/stages/parser"
)

// events makes a record of each event of an iCalendar file. It has no state, so all workers share it.
type events struct{}

// Matches implements parser.Extractor. Servers often send the files as something else, so their name counts as well.
func (events) Matches(d *parser.Document) bool {
	path, _, _ := strings.Cut(d.URL, "?")
	return d.MediaType == "text/calendar" || strings.HasSuffix(strings.ToLower(path), ".ics")
}

// Extract implements parser.Extractor. A file that is none is an error: its page goes to DEAD.
func (events) Extract(_ context.Context, d *parser.Document) (*parser.Extract, error) {
	file, err := calendar.Parse(d.Body)
	if err != nil {
		return nil, err
	}
	out := &parser.Extract{Title: file.Name, Description: file.Description}
	var summaries []string
	for i := range file.Events {
		e := &file.Events[i]
		summaries = append(summaries, e.Summary)
		out.Records = append(out.Records, parser.ExtractRecord{Kind: "event", Key: e.Key(), Fields: e})
		if e.Link != "" {
			out.Links = append(out.Links, e.Link)
		}
	}
	out.Text = strings.Join(summaries, "\n")
	return out, nil
}

var _ parser.Extractor = events{}
