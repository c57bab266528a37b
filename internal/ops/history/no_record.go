package history

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/page/extract"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/parser"
)

// specFinder evaluates the crawl's spec on the URL.
type specFinder struct{ *finder }

// specNow returns the current spec of the crawl, nil if it is unavailable.
func (f specFinder) specNow() *crawlspec.Spec {
	have, err := stages.SpecOf(f.ctx, f.bus, f.Crawl)
	if err != nil {
		return nil
	}
	return have.Spec
}

// noRecord explains for each rule of the spec why it makes no record of the newest page, while the
// page is stored. Errors only omit the explanation.
func (f specFinder) noRecord() error {
	if len(f.Records) > 0 || f.page == nil || f.LeftOut != "" {
		return nil
	}
	spec := f.specNow()
	if spec == nil {
		return nil
	}
	if len(spec.Records) == 0 && spec.Page.Emit == crawlspec.EmitNever {
		f.NoRecord = []string{"page.emit of the spec is never"}
	}
	at := f.Pages[len(f.Pages)-1]
	if len(spec.Records) == 0 || at.Gone || !at.DuplicateOf.IsZero() {
		return nil
	}
	if body, err := f.bodyOf(at); err == nil {
		f.NoRecord, _ = whyNoRecord(f.finder, spec, body)
	}
	return f.ctx.Err()
}

// bodyOf reads the body of the newest page.
func (f specFinder) bodyOf(at Page) ([]byte, error) {
	data, err := f.payload(at.StoredMessage)
	if err != nil {
		return nil, err
	}
	in, err := stages.NewPageBody(f.bus, f.page, data).Decoded(f.ctx)
	if err != nil {
		return nil, err // callers ignore the error
	}
	defer in.Close()
	return io.ReadAll(in)
}

// whyNoRecord explains for each record rule why it makes no record of a page.
func whyNoRecord(f *finder, spec *crawlspec.Spec, body []byte) (all []string, err error) {
	read, err := parser.ParsePage(f.ctx, parser.DefaultConfig(), spec, f.page, body)
	if err != nil {
		return nil, err
	}
	verdicts, err := read.Rules.Explain(f.ctx, read.Document)
	if err != nil {
		return nil, err
	}
	for _, v := range verdicts {
		why := v.Why
		if v.Applies {
			why = "its selectors find nothing"
		}
		for _, p := range read.Problems {
			if p.Rule == v.Rule {
				why = p.Reason
				if p.Field != "" {
					why = "field " + p.Field + ": " + why
				}
			}
		}
		made := slices.ContainsFunc(read.ByRules.Records, func(r extract.Record) bool { return r.Rule == v.Rule })
		if v.Kind != "" && !made {
			all = append(all, fmt.Sprintf("%s (%s): %s", v.Rule, v.Kind, why))
		}
	}
	return all, nil
}

// remedy names the key of the spec that excludes the URL, and a change that admits it. It returns
// "" if the reason itself says so.
func (f specFinder) remedy() string {
	if f.Now.Reason == "" || f.Now.Stands {
		return ""
	}
	spec := f.specNow()
	if spec == nil {
		return ""
	}
	switch f.Now.Reason {
	case frontierapi.ReasonInclude:
		return "no pattern of include matches it: " + list(spec.Include)
	case frontierapi.ReasonDepth:
		return fmt.Sprintf("its depth is %d, and max_depth %d: raise that", f.Depth, *spec.MaxDepth)
	case frontierapi.ReasonExtension:
		ext := crawlspec.Extension(f.Canonical)
		return fmt.Sprintf("files named .%s are skipped: add %s to accept, or set skip_extensions", ext, crawlspec.AcceptOf(ext))
	case frontierapi.ReasonScope:
		return fmt.Sprintf("scope is %s, and no seed is of %s: add %s to hosts", spec.Scope, weburl.Host(f.Canonical), weburl.Hostname(f.Canonical))
	}
	return ""
}

// list formats patterns of a spec.
func list(patterns []string) string {
	const most = 5
	text := strings.Join(patterns[:min(len(patterns), most)], ", ")
	if len(patterns) > most {
		text += ", …"
	}
	return messages.Clip(text)
}
