package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/base/humanize"
	"seine/internal/base/truncate"
	"seine/internal/ops/deadletters"
	"seine/internal/serve/audit"
	"seine/internal/serve/caller"
	"seine/pkg/stages"
)

// letterOperations are the operations on dead letters.
type letterOperations struct{ *API }

// LetterFilter selects dead letters.
type LetterFilter struct{ deadletters.Query }

// Resolve implements huma.Resolver.
func (f *LetterFilter) Resolve(huma.Context) []error {
	if _, err := f.Filter(time.Now()); err != nil {
		return []error{&huma.ErrorDetail{Location: "filter", Message: err.Error()}}
	}
	return nil
}

func (f *LetterFilter) filter() deadletters.Filter {
	d, _ := f.Filter(time.Now()) // Resolve has validated it
	return d
}

func (d letterOperations) registerDeadLetters() {
	register(d.API, operation{
		method: http.MethodGet, path: "/dead-letters", id: "list-dead-letters", tag: "dead letters", scope: caller.Read,
		summary: "Messages that no stage could handle", about: "Newest first, each with its reason. A request reads a limited number; a response with a cursor and no items is not the last.",
	}, d.listLetters)
	register(d.API, operation{
		method: http.MethodGet, path: "/dead-letters/count", id: "count-dead-letters", tag: "dead letters", scope: caller.Read,
		summary: "How many dead letters there are", about: "By stage and by crawl, as the NATS server counts them.",
	}, d.countLetters)
	register(d.API, operation{
		method: http.MethodGet, path: "/dead-letters/{seq}", id: "get-dead-letter", tag: "dead letters", scope: caller.Read, errors: []int{404},
		summary: "A dead letter", about: "With its headers, and the beginning of its payload. That of records and pages needs the scope `records`, too.",
	}, d.getLetter)
	for _, verb := range []struct {
		name, about string
		do          func(context.Context, *deadletters.Redriver, *deadletters.DeadLetter) error
	}{
		{"redrive", "Fix the cause of the failure first. A message that fails again becomes a dead letter again.", func(ctx context.Context, r *deadletters.Redriver, l *deadletters.DeadLetter) error {
			return r.Redrive(ctx, l)
		}},
		{"drop", "They are removed permanently.", func(ctx context.Context, r *deadletters.Redriver, l *deadletters.DeadLetter) error {
			return deadletters.Drop(ctx, r.Bus, l.Seq)
		}},
	} {
		register(d.API, operation{
			method: http.MethodPost, path: "/dead-letters/" + verb.name, id: verb.name + "-dead-letters", tag: "dead letters", scope: caller.Write, errors: []int{404, 409},
			summary: map[string]string{"redrive": "Redrive messages to their stage", "drop": "Remove dead letters"}[verb.name],
			about:   verb.about + " Name some, or select up to a limit by a filter, newest first.",
		}, func(ctx context.Context, in *struct{ Body LetterChoice }) (*body[LettersDone], error) {
			return d.eachLetter(ctx, &in.Body, verb.do)
		})
	}
}

type lettersInput struct {
	LetterFilter
	PageInput
}

func (d letterOperations) listLetters(ctx context.Context, in *lettersInput) (*body[page[*deadletters.DeadLetter]], error) {
	before, err := number(in.Cursor)
	if err != nil {
		return nil, err
	}
	return ask(ctx, d.Cluster.Look, func(ctx context.Context, bus *stages.Bus) (page[*deadletters.DeadLetter], error) {
		part, err := deadletters.Before(ctx, bus, in.filter(), before, in.Limit)
		return pageOf(part.Letters, cursorOf(part.Next)), err
	})
}

func (d letterOperations) countLetters(ctx context.Context, in *struct {
	Stage string `query:"stage" enum:"frontier,fetcher,renderer,parser,writer"`
	CrawlQuery
}) (*body[deadletters.Counts], error) {
	return ask(ctx, d.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (deadletters.Counts, error) {
		return deadletters.Count(ctx, bus, deadletters.Filter{Stage: in.Stage, Crawl: in.Crawl})
	})
}

// Letter is a dead letter with its content.
type Letter struct {
	deadletters.DeadLetter
	Headers   map[string][]string `json:"headers"`
	Payload   string              `json:"payload" doc:"Payload as text; invalid UTF-8 is replaced by U+FFFD."`
	Truncated bool                `json:"truncated,omitempty" doc:"The payload is longer."`
	Withheld  bool                `json:"withheld,omitempty" doc:"The payload is left out: it may contain records or text of pages, which need the scope records."`
}

// maxPayload bounds the part of a payload that is returned, in bytes.
const maxPayload = 64 << 10

func (d letterOperations) getLetter(ctx context.Context, in *struct {
	Seq uint64 `path:"seq" minimum:"1"`
}) (*body[Letter], error) {
	return ask(ctx, d.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (out Letter, err error) {
		l, err := deadletters.Get(ctx, bus, in.Seq)
		if err != nil {
			return out, err
		}
		data, c := l.Message.Data, caller.Of(ctx)
		if out.Withheld = l.HasContent() && !c.May(caller.Records); out.Withheld {
			data = nil
		}
		out.DeadLetter, out.Headers, out.Truncated = *l, l.Message.Header, len(data) > maxPayload
		out.Payload = strings.ToValidUTF8(string(truncate.To(data, maxPayload)), "\ufffd")
		return out, nil
	})
}

// LetterChoice selects the letters of an operation.
type LetterChoice struct {
	Seqs   []uint64      `json:"seqs,omitempty" maxItems:"1000" doc:"Their sequences, as the list has them."`
	Filter *LetterFilter `json:"filter,omitempty" doc:"Those that it chooses; {} chooses all."`
	Most   int           `json:"most,omitempty" minimum:"1" maximum:"1000" default:"1000" doc:"Of those, at most so many."`
}

// LettersDone is the result of an operation on letters.
type LettersDone struct {
	Done   int      `json:"done"`
	Failed []string `json:"failed,omitempty" doc:"Why something could not be done with one, 20 at most."`
	Cursor string   `json:"next,omitempty" doc:"There are more that the filter chooses: do it again."`
}

// mostFailed bounds the failures that are returned.
const mostFailed = 20

func (d letterOperations) eachLetter(ctx context.Context, in *LetterChoice, do func(context.Context, *deadletters.Redriver, *deadletters.DeadLetter) error) (*body[LettersDone], error) {
	if (len(in.Seqs) > 0) == (in.Filter != nil) {
		return nil, problemf(http.StatusUnprocessableEntity, "give either seqs or a filter; {\"filter\": {}} is for all")
	}
	return ask(ctx, d.Cluster.Look, func(ctx context.Context, bus *stages.Bus) (out LettersDone, err error) {
		letters, err := out.choose(ctx, bus, in)
		if err != nil {
			return out, err
		}
		audited(ctx, letters)
		r := &deadletters.Redriver{Bus: bus}
		for _, l := range letters {
			err := do(ctx, r, l)
			switch {
			case err == nil:
				out.Done++
			case ctx.Err() != nil:
				return out, ctx.Err()
			case len(out.Failed) < mostFailed:
				out.Failed = append(out.Failed, fmt.Sprintf("%d: %v", l.Seq, err))
			}
		}
		if out.Done == 0 && len(out.Failed) > 0 {
			return out, problemf(http.StatusConflict, "nothing was done: %s", strings.Join(out.Failed, "; "))
		}
		return out, nil
	})
}

// audited records the letters that a request changes for the audit log.
func audited(ctx context.Context, letters []*deadletters.DeadLetter) {
	s := audit.SubjectOf(ctx)
	if s.Object = humanize.Plural(len(letters), "dead letter"); len(letters) == 1 {
		s.Object = fmt.Sprintf("dead letter %d", letters[0].Seq)
	}
	for _, l := range letters {
		if s.Crawl = l.Crawl; l.Crawl != letters[0].Crawl { // letters of several crawls
			s.Crawl = ""
			return
		}
	}
}

// choose returns the selected letters. All named letters must exist.
func (d *LettersDone) choose(ctx context.Context, bus *stages.Bus, in *LetterChoice) (all []*deadletters.DeadLetter, err error) {
	if in.Filter != nil {
		part, err := deadletters.Before(ctx, bus, in.Filter.filter(), 0, in.Most)
		d.Cursor = cursorOf(part.Next)
		return part.Letters, err
	}
	for _, seq := range in.Seqs {
		l, err := deadletters.Get(ctx, bus, seq)
		if err != nil {
			return nil, fmt.Errorf("%w; nothing was done", err)
		}
		all = append(all, l)
	}
	if len(all) == 0 {
		return nil, errors.New("no dead letter matches")
	}
	return all, nil
}

// CrawlQuery selects a crawl.
type CrawlQuery struct {
	Crawl string `query:"crawl" maxLength:"64" doc:"Only of this crawl."`
}

// Resolve implements huma.Resolver.
func (c *CrawlQuery) Resolve(huma.Context) []error { return checkAnyCrawl(c.Crawl, "query.crawl") }
