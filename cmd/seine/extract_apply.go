package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"seine/internal/page/extract"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/state"
	"seine/pkg/stages/parser"
)

// extracted is what `seine extract` prints as JSON.
type extracted struct {
	URL         string            `json:"url"`
	Via         []string          `json:"via,omitempty"` // what redirected to it
	Status      int               `json:"status"`
	ContentType string            `json:"content_type"`
	Type        string            `json:"type"`                    // what it was read as
	Mismatch    bool              `json:"type_mismatch,omitempty"` // and not what it was sent as
	Bytes       int64             `json:"bytes"`
	FetchMS     messages.Millis   `json:"fetch_ms,omitzero"`
	Records     []json.RawMessage `json:"records"`
	Links       []foundLink       `json:"links"`
	Problems    []problem         `json:"problems"`
	Notes       []problem         `json:"notes,omitempty"`
	Rules       []extract.Verdict `json:"rules"`
}

// foundLink is a link that leads on.
type foundLink struct {
	URL      string `json:"url"`
	Rule     string `json:"rule"` // as in "follow[0]"; "links" is the page's own
	Priority int    `json:"priority"`
	Depth    int    `json:"depth"`              // added to that of the page
	Excluded string `json:"excluded,omitempty"` // why it would not, as in "scope"
}

// problem is what a rule could not do.
type problem struct {
	Rule   string          `json:"rule"`
	Kind   string          `json:"kind,omitempty"`
	Index  int             `json:"index"` // of the item on the page, from 0
	Field  string          `json:"field,omitempty"`
	Reason string          `json:"reason"`
	Record json.RawMessage `json:"record,omitempty"`
}

// apply reads a page by the rules of a spec.
func apply(ctx context.Context, got *fetched, spec *crawlspec.Spec) (*extracted, error) {
	page := &got.Page
	read, err := parser.ParsePage(ctx, parser.DefaultConfig(), spec, page, got.Body)
	if err != nil {
		return nil, err
	}
	result := &read.ByRules
	verdicts, err := read.Rules.Explain(ctx, read.Document)
	if err != nil {
		return nil, err
	}
	found, err := links(read, result, page, spec)
	if err != nil {
		return nil, err
	}
	out := &extracted{
		URL: page.URL, Via: got.Via, Status: page.Status, ContentType: page.ContentType, Type: read.Document.Type.Class.String(),
		Bytes: page.BodySize, FetchMS: page.Timings.Total, Records: []json.RawMessage{},
		Links: found, Problems: problems(read.Problems), Notes: problems(result.Notes), Rules: verdicts,
	}
	out.Mismatch = read.Document.Type.Mismatch
	for _, r := range read.Records {
		out.Records = append(out.Records, r)
	}
	out.Notes = append(out.Notes, missing(spec, result, out.Records)...)
	for _, p := range read.Unreadable {
		out.Notes = append(out.Notes, problem{Rule: p.Part, Reason: p.String()})
	}
	return out, nil
}

// links are those that the parser sends, with the rules that found them, and what
// the frontier would do with them.
func links(read *parser.ParseResult, result *extract.Result, page *messages.Page, spec *crawlspec.Spec) ([]foundLink, error) {
	preview, err := state.NewScopePreview(spec, page.URL, page.FetchedAt)
	if err != nil {
		return nil, err
	}
	by := make(map[string]string, len(result.Links))
	for _, l := range result.Links {
		by[l.URL] = l.Rule
	}
	out := []foundLink{}
	for _, l := range read.Links {
		found := foundLink{URL: l.URL, Rule: cmp.Or(by[l.URL], "links"), Depth: l.Depth - page.Depth}
		found.Excluded, found.Priority = preview.Evaluate(l.URL, l.Depth, l.Priority)
		out = append(out, found)
	}
	return out, nil
}

// missing says which fields found nothing, and in how many records of a rule.
func missing(spec *crawlspec.Spec, result *extract.Result, records []json.RawMessage) []problem {
	own := records[len(records)-min(len(records), len(result.Records)):] // that of the page comes first
	total, absent := make(map[string]int), make(map[string]map[string]int)
	for i, raw := range own {
		rule := result.Records[i].Rule
		total[rule]++
		has := make(map[string]bool)
		for _, m := range membersOf(raw) {
			has[m.name] = true
		}
		for _, f := range fieldsOf(spec, rule) {
			if absent[rule] == nil {
				absent[rule] = make(map[string]int)
			}
			if !has[f.Name] {
				absent[rule][f.Name]++
			}
		}
	}
	var out []problem
	for i := range spec.Records {
		rule := ruleName(i)
		for _, f := range spec.Records[i].Fields {
			if n := absent[rule][f.Name]; n > 0 {
				reason := "nothing was found"
				if total[rule] > 1 {
					reason += fmt.Sprintf(" in %d of %d records", n, total[rule])
				}
				out = append(out, problem{Rule: rule, Kind: spec.Records[i].Kind, Field: f.Name, Reason: reason})
			}
		}
	}
	return out
}

func ruleName(i int) string { return fmt.Sprintf("records[%d]", i) }

func fieldsOf(spec *crawlspec.Spec, rule string) crawlspec.Fields {
	for i := range spec.Records {
		if ruleName(i) == rule {
			return spec.Records[i].Fields
		}
	}
	return nil
}

func problems(all []extract.Problem) []problem {
	out := make([]problem, 0, len(all))
	for _, p := range all {
		q := problem{Rule: p.Rule, Kind: p.Kind, Index: p.Index, Field: p.Field, Reason: p.Reason}
		if json.Valid(p.Record) {
			q.Record = p.Record
		}
		out = append(out, q)
	}
	return out
}
