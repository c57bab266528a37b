// Package extract makes records and links of a document by the rules of a spec.
//
// [Compile] takes a spec and tells everything that is wrong with its rules, each
// error with the path of its key. [Rules.Apply] takes a document and gives the
// records of the rules that match it, the links of its follow rules, and what
// could not be made. The same rules and document always give the same result, to
// the byte.
//
// # How a value is made
//
// For each field, in this order:
//
//  1. Select: css, xpath, json_ld, meta or from. Without one, it is the item
//     itself: what each selected, or the document. There, jq selects if the item
//     is JSON.
//  2. Get: the text of an element, an attribute, HTML, Markdown.
//  3. Regex: its first group, or the whole match. Without a selector and get, it is
//     applied to the body, or to the HTML of an item.
//  4. Replace, then trim.
//  5. jq, where it did not select: the text is read as JSON.
//  6. Split.
//  7. As: number, date and so on. What cannot be converted counts as not found.
//  8. Default, where nothing was found; then required.
//
// An empty text, and null, is nothing found. Without all, the first value that
// is not empty is taken. A field that found nothing is left out of the record, a
// list (all, split) is empty.
//
// # Bounds
//
// What a page can make of rules is bounded by the constants in bounds.go, in
// time by MaxTime. A rule that exceeds a bound gives a [Problem], and what it
// made so far.
//
// # Workers
//
// A jq program that is more than a path runs in a worker: a process of the same
// program, which this package serves in before anything else runs, if
// SEINE_JQ_WORKER is in its environment. It ends itself when an evaluation takes
// too much processor time or memory. It keeps nothing of an evaluation: the results that
// are wanted are sent at once. A jqPool has the workers of a process.
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

// Rules are the compiled rules of a spec, safe for concurrent use.
type Rules struct {
	page    *target // of the record of the page; nil if it has no condition
	records []*recordRule
	follow  []*followRule
	targets []*target     // of all of them
	limit   time.Duration // MaxTime, but for tests
	pages   atomic.Int64  // that they were applied to
}

// Result is what rules made of a document.
type Result struct {
	Records []Record
	Links   []Link
	// Problems are records that were not made, and rules that ended early.
	Problems []Problem
	// Notes are for authors of rules: records were made without these values.
	Notes []Problem
	// NoPage says that the page itself has no record.
	NoPage bool
	// LeftOut says by which condition there is no record of the page, or none of a rule
	// that asks for another language: one of messages.LeftOutReasons, and why. It is that of
	// the first.
	LeftOut string
	// Abandoned says that a function was still busy when the time was over: it ends
	// by itself, and until then the document must be left alone.
	Abandoned bool
	// Told are the rules to warn of, each once: fields never have a value, or a key joins hosts.
	Told []Yield
}

// Link is a URL that a follow rule found.
type Link struct {
	URL      string // canonical
	Priority *int   // nil if the rule gives none
	DepthAdd int    // what is added to the page's depth
	Rule     string // as in "follow[0]"
}

// Problem is a record that could not be made, or a rule that could not be
// applied to the end.
type Problem struct {
	Rule   string // as in "records[0]"
	Kind   string // of the record; "" for a follow rule
	Index  int    // of the item on the page, from 0
	Field  string // "" if no single field is to blame
	Reason string
	// Record is the record as JSON, without its envelope, where there is one that
	// does not conform to its schema or is too large (then it is cut, and no JSON).
	Record []byte
}

// Empty reports whether there are no rules.
func (r *Rules) Empty() bool { return len(r.targets) == 0 }

// Matches reports whether a rule is for documents of such a URL, whatever their
// type. It costs nothing but the patterns.
func (r *Rules) Matches(url string) bool {
	return slices.ContainsFunc(r.targets, func(t *target) bool {
		_, ok := t.matchURL(url)
		return ok
	})
}

// Apply returns what the rules make of a document. The error is that of ctx;
// all else is in the result. Rules that take longer than MaxTime end there, with a
// [Problem]; see [Result.Abandoned].
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
	mu     sync.Mutex // of result: the goroutine that waits for the rules may take it
	result *Result
	links  map[string]bool // found so far
	work   int64           // bytes and nodes looked at so far
	made   int             // records
	size   int             // of the records so far
	groups map[string]string
	target *target
	body   string // of the document, once a rule has asked for it
	broken bool   // it has been told that the document is
	nodes  *css.Nodes
	// matchers are those of the selectors that were applied so far.
	matchers map[*css.Selector]*matcher
	// selection has the node that css selects from.
	selection goquery.Selection
	index     int    // of the item that a record is being made of
	field     string // that is being found
	pool      *jqPool
	worker    *jqProcess // nil until a rule needs one
}

func newRun(ctx context.Context, doc *document.Document) *run {
	return &run{
		ctx: ctx, doc: doc, result: new(Result), links: make(map[string]bool), matchers: make(map[*css.Selector]*matcher),
		pool: interpreters,
	}
}

// apply runs a rule if it is for the document.
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

// page finds out whether the page itself has a record. It has none if its
// condition cannot be looked at.
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

// leaveOut records why a rule makes nothing. That a rule for some pages is not for
// this one is not reported, but for languages: those are what pages are chosen by.
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

// each does with every item that a rule's selector finds what the rule does with
// one, by fields; a rule without a selector does it with the document. The first error ends it.
func (r *run) each(s *selector, fields []*field, do func(item) error) error {
	if s == nil {
		s = &selector{} // finds what it is given
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

// spend counts work, and says when there was too much of it.
func (r *run) spend(n int) error {
	r.work += int64(n)
	if r.work > MaxWork {
		return fmt.Errorf("%w: the rule looked at more than %d bytes and nodes", errBound, MaxWork)
	}
	if r.work&^0xfff != (r.work-int64(n))&^0xfff {
		return r.ctx.Err()
	}
	return nil
}
