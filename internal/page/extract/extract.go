// Package extract makes records and links from a document by the rules of a spec.
//
// [Compile] compiles the rules of a spec and returns all their errors, each with the path of its
// key. [Rules.Apply] applies them to a document. It returns the records of the matching rules, the
// links of the follow rules, and problems. The same rules and document always give the same result,
// byte for byte.
//
// # How a value is made
//
// For each field, in this order:
//
//  1. Select: css, xpath, json_ld, meta or from. Without one of them, it is the item itself:
//     what each selected, or the document. Then jq selects if the item is JSON.
//  2. Get: the text of an element, an attribute, HTML, Markdown.
//  3. Regex: its first group, or the whole match. Without a selector and get, it is applied to
//     the body, or to the HTML of an item.
//  4. Replace, then trim.
//  5. jq, if it did not select: the text is parsed as JSON.
//  6. Split.
//  7. As: number, date and so on. A value that cannot be converted counts as not found.
//  8. Default, if nothing was found; then required.
//
// An empty text or null counts as not found. Without all, the first value that is not empty is
// used. A field without a value is omitted from the record; a list (all, split) is empty.
//
// # Limits
//
// The constants in bounds.go limit the results that a page can produce, and MaxTime limits the
// time. A rule that exceeds a limit gives a [Problem], and the results made so far.
//
// # Workers
//
// A jq program that is more than a path runs in a worker process. The worker runs the same program:
// if SEINE_JQ_WORKER is in its environment, this package serves requests before any other code
// runs. A worker exits when an evaluation takes too much processor time or memory. It keeps no
// state of an evaluation: the requested results are sent at once. A jqPool has the workers of a
// process.
package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/PuerkitoBio/goquery"

	"seine/internal/page/css"
	"seine/internal/page/document"
	"seine/pkg/messages"
)

// Rules are the compiled rules of a spec. They are safe for concurrent use.
type Rules struct {
	page    *target // condition of the page's record; nil if none
	records []*recordRule
	follow  []*followRule
	targets []*target     // all of the above
	limit   time.Duration // MaxTime, except in tests
	pages   atomic.Int64  // number of pages that the rules were applied to
}

// Result has what rules made from a document.
type Result struct {
	Records []Record
	Links   []Link
	// Problems are records that were not made, and rules that ended early.
	Problems []Problem
	// Notes are for authors of rules: they list values that records lack.
	Notes []Problem
	// NoPage is set if the page itself has no record.
	NoPage bool
	// LeftOut is the reason why the page has no record, or a rule that requires another language
	// made none: one of messages.LeftOutReasons, with details. It is that of the first such
	// condition.
	LeftOut string
	// Abandoned is set if a function was still busy when the time was over. It ends by itself;
	// until then the document must not be used.
	Abandoned bool
	// Told are the rules to warn about, each reported once: fields that never have a value, or a
	// key shared by hosts.
	Told []Yield
}

// Link is a URL that a follow rule found.
type Link struct {
	URL      string // canonical
	Priority *int   // nil if the rule sets none
	DepthAdd int    // added to the page's depth
	Rule     string // such as "follow[0]"
}

// Problem is a record that could not be made, or a rule that could not be applied completely.
type Problem struct {
	Rule   string // such as "records[0]"
	Kind   string // of the record; "" for a follow rule
	Index  int    // of the item on the page, from 0
	Field  string // "" if no single field is the cause
	Reason string
	// Record is the record as JSON without its envelope, if it exists but does not conform to its
	// schema or is too large. In the latter case it is truncated, and so not valid JSON.
	Record []byte
}

// Empty reports whether there are no rules.
func (r *Rules) Empty() bool { return len(r.targets) == 0 }

// Matches reports whether a rule applies to documents with this URL, of any type. It only evaluates
// patterns.
func (r *Rules) Matches(url string) bool {
	return slices.ContainsFunc(r.targets, func(t *target) bool {
		_, ok := t.matchURL(url)
		return ok
	})
}

// Apply applies the rules to a document. The error is ctx's; everything else is in the result. If
// rules take longer than MaxTime, they end with a [Problem]; see [Result.Abandoned].
func (r *Rules) Apply(ctx context.Context, doc *document.Document) (*Result, error) {
	r.pages.Add(1)
	if !r.Matches(doc.URL) {
		return new(Result), ctx.Err()
	}
	bounded, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	run := newRun(bounded, doc)
	if err := abandoned.wait(bounded); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &Result{Problems: []Problem{{Rule: allRules, Reason: err.Error()}}}, nil
	}
	ended := run.within(&abandoned, func() {
		run.page(r.page)
		for _, rule := range r.records {
			run.apply(&rule.target, func() error { return rule.run(run) })
		}
		for _, rule := range r.follow {
			run.apply(&rule.target, func() error { return rule.run(run) })
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	result := run.take()
	result.Told = append(result.Told, r.newlyTold()...)
	if !ended {
		result.abandon(run)
	}
	return result, nil
}

// run is one application of rules to a document.
type run struct {
	ctx    context.Context
	doc    *document.Document
	mu     sync.Mutex // of result, which the goroutine that waits for the rules may take
	result *Result
	links  map[string]bool // already found
	work   int64           // bytes and nodes visited so far
	made   int             // number of records
	size   int             // size of the records so far
	groups map[string]string
	target *target
	body   string // of the document, once a rule has used it
	broken bool   // the document's fault was noted
	nodes  *css.Nodes
	// matchers are the matchers of the selectors used so far.
	matchers map[*css.Selector]*matcher
	// selection has the node from which css selects.
	selection goquery.Selection
	index     int    // of the current item
	field     string // the current field
	pool      *jqPool
	worker    *jqProcess // nil until a rule needs it
}

func newRun(ctx context.Context, doc *document.Document) *run {
	return &run{
		ctx: ctx, doc: doc, result: new(Result), links: make(map[string]bool), matchers: make(map[*css.Selector]*matcher),
		pool: interpreters,
	}
}

// apply runs a rule if it applies to the document.
func (r *run) apply(t *target, rule func() error) {
	groups, ok := t.matchURL(r.doc.URL)
	if !ok || t.types&typeOf(r.doc) == 0 {
		return
	}
	r.groups, r.target, r.work, r.index, r.field = groups, t, 0, 0, ""
	defer jqRun{r}.release()
	err := r.applyMatched(t, rule)
	if err != nil {
		r.problem(Problem{Reason: messages.Clip(r.explain(err))})
	}
}

func (r *run) applyMatched(t *target, rule func() error) error {
	if t.when != nil {
		holds, err := t.when.holds(r, item{})
		if err != nil {
			return err
		}
		if !holds {
			r.leaveOut(t)
			return nil
		}
	}
	return rule()
}

// page determines whether the page itself has a record. It has none if its condition cannot be
// evaluated.
func (r *run) page(t *target) {
	if t == nil {
		return
	}
	holds := false
	r.apply(t, func() error { holds = true; return nil })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.NoPage = !holds
}

// leaveOut records why a rule makes no records. For a rule other than the page's, it reports only
// languages, by which pages are chosen.
func (r *run) leaveOut(t *target) {
	sort, why := t.when.unmet(r.doc)
	if sort == "condition" && t.path != pageRule {
		return
	}
	if why == "" {
		why = "it does not hold"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result.LeftOut == "" {
		r.result.LeftOut = fmt.Sprintf("%s: %s.when: %s", sort, t.path, why)
	}
}

func (r *run) explain(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("the rules took longer than %s on this page", MaxTime)
	}
	return err.Error()
}

func (r *run) problem(p Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.result.Problems) < MaxProblems {
		p.Rule, p.Kind = r.target.path, r.target.kind
		r.result.Problems = append(r.result.Problems, p)
	}
}

func (r *run) note(index int, field, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.result.Notes) < MaxProblems {
		r.result.Notes = append(r.result.Notes, Problem{
			Rule: r.target.path, Kind: r.target.kind, Index: index, Field: field, Reason: messages.Clip(fmt.Sprintf(format, args...)),
		})
	}
}

// each calls do for every item that a rule's selector finds, or for the document if the rule has no
// selector. It evaluates jq programs of fields ahead. The first error ends it.
func (r *run) each(s *selector, fields []*field, do func(item) error) error {
	if s == nil {
		s = &selector{} // selects its input
	}
	var failed error
	err := jqRun{r}.allAhead(s, item{}, fields, func(in item) bool {
		if failed = do(in); failed == nil {
			failed = r.spend(1)
		}
		r.index++
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// spend counts work, and returns an error when the limit is exceeded.
func (r *run) spend(n int) error {
	r.work += int64(n)
	if r.work > MaxWork {
		return fmt.Errorf("%w: the rule read more than %d bytes and nodes", errBound, MaxWork)
	}
	if r.work&^0xfff != (r.work-int64(n))&^0xfff {
		return r.ctx.Err()
	}
	return nil
}
