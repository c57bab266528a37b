package parser

import (
	"context"
	"log/slog"

	"seine/internal/page/document"
	"seine/internal/page/extract"
	"seine/internal/page/structured"
	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// ParseResult is what the stage makes of one page.
type ParseResult struct {
	Document *document.Document
	Records  [][]byte // as they go to RECORDS
	Links    []Link   // in the order in which they go to URLS
	Problems []extract.Problem
	// Unreadable is what is wrong with the structured data of the page, whether the spec asks for that or not.
	Unreadable []structured.Problem
	Rules      *extract.Rules // of the spec, compiled
	ByRules    extract.Result // what they made
}

// Link is a URL that would be followed.
type Link struct {
	messages.Candidate
	Depth int // of the URL
}

// ParsePage reads one page as the stage would for a crawl with that spec, outside
// of any: nothing is sent, and what needs the memory of a crawl, such as what is
// done with duplicates, is left out. Body is decoded. The error is that of ctx, of
// the rules of the spec, or why the page would go to DEAD.
func ParsePage(ctx context.Context, cfg Config, spec *crawlspec.Spec, page *messages.Page, body []byte) (*ParseResult, error) {
	bus := &stages.Bus{Client: jsclient.Client{Log: slog.New(slog.DiscardHandler)}, Layout: messages.Layout{V: messages.Version, Partitions: 1}}
	p, err := New(cfg, bus, nil)
	if err != nil {
		return nil, err
	}
	defer p.unzip.Close()
	plan := p.plans.Get(page.Crawl, spec)
	if plan.err != nil {
		return nil, plan.err
	}
	r, err := p.read(ctx, page, body, plan)
	if err != nil {
		return nil, err
	}
	out := &ParseResult{Document: r.doc, Rules: plan.rules, ByRules: r.byRules}
	for _, m := range r.recordMessages(0, int(cfg.MaxText)) {
		out.Records = append(out.Records, m.Data)
	}
	out.Problems = r.problems
	out.Unreadable = r.structured().Problems
	for _, f := range r.follow {
		out.Links = append(out.Links, Link{f.Candidate, f.depth})
	}
	return out, nil
}
