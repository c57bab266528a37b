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

// ParseResult is the output of the stage for one page.
type ParseResult struct {
	Document *document.Document
	Records  [][]byte // as published to RECORDS
	Links    []Link   // in the order in which they are published to URLS
	Problems []extract.Problem
	// Unreadable are the errors in the structured data of the page, even if the spec does not ask
	// for that data.
	Unreadable []structured.Problem
	Rules      *extract.Rules // of the spec, compiled
	ByRules    extract.Result // their output
}

// Link is a URL that would be followed.
type Link struct {
	messages.Candidate
	Depth int // of the URL
}

// ParsePage parses one page like the stage would for a crawl with that spec, outside of any crawl.
// It publishes nothing, and omits steps that need the state of a crawl, such as the treatment of
// duplicates. body is decoded. The error is that of ctx, an error of the spec's rules, or the
// reason why the page would go to DEAD.
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
