package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/run/specchange"
	"seine/internal/run/specfile"
	"seine/internal/serve/audit"
	"seine/internal/serve/caller"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// specOperations are the operations on specs and their revisions.
type specOperations struct{ *API }

// maxSpec bounds the text of a spec, in bytes.
const maxSpec = 2 << 20

func (s specOperations) registerSpecs() {
	register(s.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/spec", id: "get-spec", tag: "specs", scope: caller.Read, errors: []int{404},
		summary: "The spec of a crawl", about: "As stored. Its ETag is the revision, for the If-Match of a change.",
	}, s.getSpec)
	register(s.API, operation{
		method: http.MethodPut, path: "/crawls/{crawl}/spec", id: "put-spec", tag: "specs", scope: caller.Write, body: maxSpec, errors: []int{404, 412},
		summary: "Replace the spec of a crawl", about: "In YAML or JSON. All stages receive the spec within seconds, and the frontier re-evaluates queued URLs. With If-Match, the request fails if another client changed the spec first.",
	}, s.putSpec)
	register(s.API, operation{
		method: http.MethodPost, path: "/crawls/{crawl}/spec/diff", id: "diff-spec", tag: "specs", scope: caller.Read, harmless: true, body: maxSpec, errors: []int{404},
		summary: "Preview changes of a spec", about: "Removed (-) and added (+) lines; nothing is changed.",
	}, s.diffSpec)
	register(s.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/spec/revisions", id: "list-revisions", tag: "specs", scope: caller.Read, errors: []int{404},
		summary: "Earlier specs of a crawl", about: "Newest first, at most the last 16.",
	}, s.listRevisions)
	register(s.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/spec/revisions/{revision}", id: "get-revision", tag: "specs", scope: caller.Read, errors: []int{404},
		summary: "An earlier spec of a crawl", about: "Of one revision.",
	}, s.getRevision)
	register(s.API, operation{
		method: http.MethodPost, path: "/crawls/{crawl}/spec/rollback", id: "rollback-spec", tag: "specs", scope: caller.Write, errors: []int{404},
		summary: "Restore an earlier spec of a crawl", about: "It becomes the newest revision. The crawl stays paused or running.",
	}, s.rollbackSpec)
	register(s.API, operation{
		method: http.MethodPost, path: "/specs/check", id: "check-spec", tag: "specs", scope: caller.Read, harmless: true, body: maxSpec,
		summary: "Validate a spec", about: "Returns all errors with line and column, and keys without effect.",
	}, s.checkSpec)
	register(s.API, operation{
		method: http.MethodGet, path: "/specs/schema", id: "get-spec-schema", tag: "specs", scope: caller.Read,
		summary: "The JSON Schema of a spec", about: "For editors.",
	}, func(context.Context, *struct{}) (*body[raw], error) { return &body[raw]{raw(specfile.Schema)}, nil })
}

// SpecRevision is a revision of a crawl's spec.
type SpecRevision struct {
	Revision uint64    `json:"revision" doc:"0 for the default of a crawl that never had one."`
	Stored   time.Time `json:"stored,omitzero"`
	Spec     raw       `json:"spec,omitempty"`
	Unusable string    `json:"unusable,omitempty" doc:"Why it cannot be used; then the previous revision applies."`
}

func revisionTag(rev uint64) string { return fmt.Sprintf(`"%d"`, rev) }

func (s specOperations) getSpec(ctx context.Context, in *crawlInput) (*tagged[SpecRevision], error) {
	out, err := ask(ctx, s.ofCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (r SpecRevision, err error) {
		have, err := stages.SpecOf(ctx, bus, in.Crawl)
		if err != nil {
			return r, err
		}
		return SpecRevision{Revision: have.Rev, Stored: have.Time, Spec: prettySpec(ctx, have.Spec), Unusable: have.Unusable}, nil
	})
	if err != nil {
		return nil, err
	}
	return unlessKnown(in, &tagged[SpecRevision]{revisionTag(out.Body.Revision), out.Body})
}

type specInput struct {
	CrawlPath
	IfMatch string `header:"If-Match" doc:"The ETag of the spec that was changed: 412 if it is another by now."`
	RawBody []byte `contentType:"application/yaml" doc:"The spec, in YAML or JSON."`
}

// SpecChange is the changes of a new spec.
type SpecChange struct {
	Revision    uint64   `json:"revision"`
	Changes     []string `json:"changes" nullable:"false" doc:"- is what the crawl had, + what it has."`
	Ineffective []string `json:"ineffective,omitempty" doc:"Keys that do nothing."`
}

// stored returns the reply to a stored change.
func stored(ctx context.Context, change SpecChange, err error) (*tagged[SpecChange], error) {
	if err != nil {
		return nil, err
	}
	audit.SubjectOf(ctx).Object = fmt.Sprintf("revision %d", change.Revision)
	return &tagged[SpecChange]{revisionTag(change.Revision), change}, nil
}

func (s specOperations) putSpec(ctx context.Context, in *specInput) (*tagged[SpecChange], error) {
	spec, err := readSpec(in.RawBody)
	if err == nil {
		err = s.checkRights(ctx, spec)
	}
	if err != nil {
		return nil, err
	}
	var change SpecChange
	err = s.ofCrawl(in.Crawl)(ctx, func(ctx context.Context, bus *stages.Bus) error {
		specs, err := stages.OpenSpecs(ctx, bus)
		if err != nil {
			return err
		}
		have, err := specs.Get(ctx, in.Crawl, 0)
		if err != nil {
			return err
		}
		// A caller with If-Match has read the current spec, so omissions are deliberate.
		if lost := specchange.Unmentioned(&have, spec, in.RawBody); len(lost) > 0 && strings.Trim(in.IfMatch, "*") == "" {
			return problemf(http.StatusUnprocessableEntity, "the spec lacks keys that crawl %s has: %s: add them to keep them, or KEY: null to remove one", in.Crawl, strings.Join(lost, ", "))
		}
		return change.store(ctx, specs, in, &have, spec)
	})
	return stored(ctx, change, err)
}

func (c *SpecChange) store(ctx context.Context, specs *stages.Specs, in *specInput, have *crawlspec.Revision, spec *crawlspec.Spec) (err error) {
	rev := have.Rev
	if in.IfMatch != "" && in.IfMatch != "*" {
		if rev, err = strconv.ParseUint(strings.Trim(in.IfMatch, `"`), 10, 64); err != nil {
			return problemf(http.StatusUnprocessableEntity, "If-Match: must be the ETag of GET …/spec, such as \"17\"")
		}
	}
	c.Changes = append([]string{}, specchange.Lines(have.Spec, spec)...)
	c.Ineffective = spec.Ineffective()
	switch {
	case rev != have.Rev:
		return fmt.Errorf("%w: it is at revision %d, not %d", stages.ErrRevision, have.Rev, rev)
	case len(c.Changes) == 0 && have.Rev > 0 && have.Unusable == "":
		c.Revision = have.Rev
	default:
		c.Revision, err = specs.History.Replace(ctx, in.Crawl, spec, *have)
	}
	return err
}

func (s specOperations) diffSpec(ctx context.Context, in *specInput) (*body[SpecChange], error) {
	spec, err := readSpec(in.RawBody)
	if err != nil {
		return nil, err
	}
	return ask(ctx, s.ofCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (c SpecChange, err error) {
		have, err := stages.SpecOf(ctx, bus, in.Crawl)
		if err != nil {
			return c, err
		}
		return SpecChange{have.Rev, append([]string{}, specchange.Lines(shown(ctx, have.Spec), shown(ctx, spec))...), spec.Ineffective()}, nil
	})
}

func (s specOperations) listRevisions(ctx context.Context, in *CrawlPath) (*body[page[SpecRevision]], error) {
	p := page[SpecRevision]{Items: []SpecRevision{}}
	all, err := s.history(ctx, in.Crawl)
	for _, r := range all {
		p.Items = append(p.Items, SpecRevision{Revision: r.Rev, Stored: r.Time, Unusable: r.Unusable})
	}
	return answerOf(p, err)
}

func (s specOperations) history(ctx context.Context, crawl string) (all []stages.SpecRevision, err error) {
	err = s.lookAtCrawl(crawl)(ctx, func(ctx context.Context, bus *stages.Bus) error {
		specs, err := stages.OpenSpecs(ctx, bus)
		if err == nil {
			all, err = specs.History.Revisions(ctx, crawl)
		}
		return err
	})
	return all, err
}

type revisionInput struct {
	CrawlPath
	Revision uint64 `path:"revision"`
}

func (s specOperations) getRevision(ctx context.Context, in *revisionInput) (*body[SpecRevision], error) {
	r, err := s.revision(ctx, in.Crawl, in.Revision)
	out := SpecRevision{Revision: r.Rev, Stored: r.Time, Unusable: r.Unusable}
	if r.Spec != nil {
		out.Spec = prettySpec(ctx, r.Spec)
	}
	return answerOf(out, err)
}

// revision returns an earlier revision of a crawl's spec, or an error if it is no longer stored.
func (s specOperations) revision(ctx context.Context, crawl string, rev uint64) (r stages.SpecRevision, err error) {
	all, err := s.history(ctx, crawl)
	if i := slices.IndexFunc(all, func(r stages.SpecRevision) bool { return r.Rev == rev }); i >= 0 {
		return all[i], nil
	}
	return r, cmp.Or(err, noRevision(crawl, rev))
}

func noRevision(crawl string, rev uint64) error {
	return problemf(http.StatusNotFound, "crawl %s has no spec of revision %d any more: GET %s/crawls/%[1]s/spec/revisions lists all", crawl, rev, Base)
}

type rollbackInput struct {
	CrawlPath
	Body struct {
		Revision uint64 `json:"revision" minimum:"1"`
	}
}

// rollbackSpec stores an earlier revision again. It keeps the state of the crawl and the count of
// its runs.
func (s specOperations) rollbackSpec(ctx context.Context, in *rollbackInput) (*tagged[SpecChange], error) {
	was, err := s.revision(ctx, in.Crawl, in.Body.Revision)
	if err == nil && was.Spec == nil {
		err = noRevision(in.Crawl, in.Body.Revision)
	}
	if err == nil {
		err = s.checkRights(ctx, was.Spec)
	}
	if err != nil {
		return nil, err
	}
	var change SpecChange
	err = s.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error {
		specs, err := stages.OpenSpecs(ctx, bus)
		if err != nil {
			return err
		}
		change.Revision, err = specs.Change(ctx, in.Crawl, func(now *crawlspec.Spec) error {
			again := *was.Spec
			again.State, again.Again = now.State, max(now.Again, again.Again)
			change.Changes = append([]string{}, specchange.Lines(now, &again)...)
			*now = again
			return nil
		})
		return err
	})
	return stored(ctx, change, err)
}

// SpecCheck is the result of checking a spec.
type SpecCheck struct {
	OK          bool          `json:"ok"`
	Problems    []SpecProblem `json:"problems" nullable:"false"`
	Ineffective []string      `json:"ineffective,omitempty" doc:"Keys that do nothing."`
	Secrets     []string      `json:"secrets,omitempty" doc:"Names of secrets that the processes need."`
	Refused     string        `json:"refused,omitempty" doc:"Why this server would not store it for this caller."`
}

// SpecProblem is an error in a spec.
type SpecProblem struct {
	Line   int    `json:"line" doc:"From 1; 0 for the whole."`
	Column int    `json:"column"`
	Key    string `json:"key,omitempty"`
	Text   string `json:"text"`
}

func (s specOperations) checkSpec(ctx context.Context, in *struct {
	RawBody []byte `contentType:"application/yaml" doc:"The spec, in YAML or JSON."`
}) (*body[SpecCheck], error) {
	out := SpecCheck{Problems: []SpecProblem{}}
	spec, err := specfile.Load("spec", in.RawBody)
	if err != nil {
		for _, p := range specProblems(err) {
			out.Problems = append(out.Problems, SpecProblem{p.Line, p.Column, p.Path, p.Text})
		}
		return &body[SpecCheck]{out}, nil
	}
	out.OK, out.Ineffective, out.Secrets = true, spec.Ineffective(), spec.Secrets()
	if err := s.checkRights(ctx, spec); err != nil {
		out.Refused = err.Error()
	}
	return &body[SpecCheck]{out}, nil
}
