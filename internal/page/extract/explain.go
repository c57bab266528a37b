package extract

import (
	"context"
	"fmt"

	"seine/internal/page/document"
)

// Verdict states whether a rule applies to a document, for authors of rules.
type Verdict struct {
	Rule    string `json:"rule"`           // such as "records[0]"
	Kind    string `json:"kind,omitempty"` // of its records; "" for a follow rule
	Applies bool   `json:"applies"`
	Why     string `json:"why,omitempty"` // reason if it does not apply
}

// Explain returns for each rule whether Apply would apply it to a document, or why not. The error
// is ctx's.
func (r *Rules) Explain(ctx context.Context, doc *document.Document) ([]Verdict, error) {
	bounded, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	out := make([]Verdict, 0, len(r.targets))
	alone := true // no abandoned function uses the document
	for _, t := range r.targets {
		r := newRun(bounded, doc)
		r.target = t
		why := make(chan string, 1)
		alone = alone && r.within(&abandoned, func() { why <- t.explain(r) })
		v := Verdict{Rule: t.path, Kind: t.kind, Why: "its condition, or one before it, took too long"}
		if alone {
			v.Why = <-why
			v.Applies = v.Why == ""
		}
		out = append(out, v)
	}
	return out, ctx.Err()
}

// explain returns the reason why a rule does not apply to a document, or "" if it applies.
func (t *target) explain(r *run) string {
	groups, ok := t.matchURL(r.doc.URL)
	switch {
	case !ok && len(t.patterns) == 1:
		return fmt.Sprintf("the URL does not match its pattern %q", t.sources[0])
	case !ok:
		return fmt.Sprintf("the URL matches none of its %d patterns", len(t.patterns))
	case t.types&typeOf(r.doc) == 0:
		return fmt.Sprintf("it reads %s, and this is %s", t.types, r.doc.Type.Class)
	case t.when == nil:
		return ""
	}
	r.groups = groups
	defer jqRun{r}.release()
	holds, err := t.when.holds(r, item{})
	switch {
	case err != nil:
		return "its condition: " + r.explain(err)
	case !holds:
		if _, why := t.when.unmet(r.doc); why != "" {
			return "its condition (when) does not hold: " + why
		}
		return "its condition (when) does not hold"
	}
	return ""
}
