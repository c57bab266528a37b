// Package trial applies the rules of a spec to one page, outside of a crawl. It returns the
// records, the links with the frontier's decision on each, and the rules that found nothing.
package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/state"
	"seine/internal/page/extract"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/parser"
)

// Result is the outcome for a page.
type Result struct {
	URL            string                  `json:"url"`
	Via            []string                `json:"via,omitempty"` // URLs that redirected to it
	Status         int                     `json:"status"`
	ContentType    string                  `json:"content_type"`
	Type           string                  `json:"type"`                    // detected content type
	Mismatch       bool                    `json:"type_mismatch,omitempty"` // the detected type differs from the declared one
	Bytes          int64                   `json:"bytes"`
	FetchMS        messages.Millis         `json:"fetch_ms,omitzero"`
	Rendered       string                  `json:"rendered,omitempty" doc:"Why the page was rendered in a browser; absent if it was not."`
	NotRendered    string                  `json:"not_rendered,omitempty" doc:"Why the page was not rendered, if the spec may want it."`
	Cut            string                  `json:"cut,omitempty" doc:"Why the rendered page may be incomplete."`
	RenderProblems messages.RenderProblems `json:"render_problems,omitempty" doc:"What went wrong while the page was rendered."`
	Actions        string                  `json:"actions,omitempty" doc:"What the actions of the spec have done."`
	Screenshot     []byte                  `json:"screenshot,omitempty" doc:"PNG, if render.screenshot of the spec is true, or the last one by an action."`
	PDF            []byte                  `json:"pdf,omitempty" doc:"If render.pdf of the spec is true."`
	Records        []json.RawMessage       `json:"records,omitzero"`
	Links          []Link                  `json:"links,omitzero"`
	Problems       []Problem               `json:"problems"`
	Notes          []Problem               `json:"notes,omitempty"`
	Rules          []extract.Verdict       `json:"rules,omitzero"`
}

// Link is a link of the page that the parser sends.
type Link struct {
	URL      string `json:"url"`
	Rule     string `json:"rule"` // such as "follow[0]"; "links" for ordinary links
	Priority int    `json:"priority"`
	Depth    int    `json:"depth"`              // relative to the page
	Excluded string `json:"excluded,omitempty"` // why the frontier would exclude it, such as "scope"
}

// Problem is a failure of a rule.
type Problem struct {
	Rule   string          `json:"rule"`
	Kind   string          `json:"kind,omitempty"`
	Index  int             `json:"index"` // of the item on the page, from 0
	Field  string          `json:"field,omitempty"`
	Reason string          `json:"reason"`
	Record json.RawMessage `json:"record,omitempty"`
}

// Apply applies the rules of a spec to a page.
func Apply(ctx context.Context, got *fetcher.Fetched, spec *crawlspec.Spec) (*Result, error) {
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
	out := &Result{
		URL: page.URL, Via: got.Via, Status: page.Status, ContentType: page.ContentType, Type: read.Document.Type.Class.String(),
		Bytes: page.BodySize, FetchMS: page.Timings.Total, Records: []json.RawMessage{},
		Links: found, Problems: problems(read.Problems), Notes: problems(result.Notes), Rules: verdicts,
	}
	out.Mismatch = read.Document.Type.Mismatch
	out.Rendered, out.NotRendered, out.Cut, out.Actions = page.Rendered, got.NotRendered, got.Cut, got.Actions
	out.Screenshot, out.PDF = got.Screenshot, got.PDF
	out.RenderProblems = page.RenderProblems
	for _, r := range read.Records {
		out.Records = append(out.Records, r)
	}
	out.Notes = append(out.Notes, missing(spec, result, out.Records)...)
	for _, p := range read.Unreadable {
		out.Notes = append(out.Notes, Problem{Rule: p.Part, Reason: p.String()})
	}
	return out, nil
}

// links returns the links that the parser sends, with the rules that found them and the frontier's
// decision on each.
func links(read *parser.ParseResult, result *extract.Result, page *messages.Page, spec *crawlspec.Spec) ([]Link, error) {
	preview, err := state.NewScopePreview(spec, page.URL, page.FetchedAt)
	if err != nil {
		return nil, err
	}
	by := make(map[string]string, len(result.Links))
	for _, l := range result.Links {
		by[l.URL] = l.Rule
	}
	out := []Link{}
	for _, l := range read.Links {
		found := Link{URL: l.URL, Rule: cmp.Or(by[l.URL], "links"), Depth: l.Depth - page.Depth}
		found.Excluded, found.Priority = preview.Evaluate(l.URL, l.Depth, l.Priority)
		out = append(out, found)
	}
	return out, nil
}

// missing reports the fields that found nothing, with the number of records of a rule.
func missing(spec *crawlspec.Spec, result *extract.Result, records []json.RawMessage) []Problem {
	own := records[len(records)-min(len(records), len(result.Records)):] // the record of the page comes first
	total, absent := make(map[string]int), make(map[string]map[string]int)
	for i, raw := range own {
		rule := result.Records[i].Rule
		total[rule]++
		var has map[string]json.RawMessage
		_ = jsontext.Unmarshal(raw, &has) // valid: the parser made it
		for _, f := range fieldsOf(spec, rule) {
			if absent[rule] == nil {
				absent[rule] = make(map[string]int)
			}
			if _, there := has[f.Name]; !there {
				absent[rule][f.Name]++
			}
		}
	}
	var out []Problem
	for i := range spec.Records {
		rule := ruleName(i)
		for _, f := range spec.Records[i].Fields {
			if n := absent[rule][f.Name]; n > 0 {
				reason := "nothing was found"
				if total[rule] > 1 {
					reason += fmt.Sprintf(" in %d of %d records", n, total[rule])
				}
				out = append(out, Problem{Rule: rule, Kind: spec.Records[i].Kind, Field: f.Name, Reason: reason})
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

func problems(all []extract.Problem) []Problem {
	out := make([]Problem, 0, len(all))
	for _, p := range all {
		q := Problem{Rule: p.Rule, Kind: p.Kind, Index: p.Index, Field: p.Field, Reason: p.Reason}
		if json.Valid(p.Record) {
			q.Record = p.Record
		}
		out = append(out, q)
	}
	return out
}
