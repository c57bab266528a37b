package parser

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"seine/internal/base/weburl"
	"seine/internal/page/extract"
	"seine/internal/page/htmlpage"
	"seine/pkg/crawlspec"
)

// ownRecord is a record beside that of the page.
type ownRecord struct {
	kind   string
	append func(b []byte, env extract.Envelope) []byte
}

// applyRules adds the output of the spec's rules. For a URL that is found by a rule and as a link,
// the rule's values apply.
func (r *parsedPage) applyRules(ctx context.Context) error {
	own := &parsedPage{page: r.page, plan: r.plan, doc: r.doc, scanned: r.scanned, file: r.file} // computes the page fields for rules
	r.doc.TellPageFields(own.field)
	result, err := r.plan.rules.Apply(ctx, r.doc)
	if err != nil {
		return err
	}
	if result.Abandoned { // an abandoned rule may still read the old document
		r.doc = newDocument(r.page, r.doc.Raw(), r.plan.content)
		if r.file != nil {
			r.doc.SetHTML(r.file.HTML)
		}
	} else {
		r.take(own)
	}
	if r.warning == "" {
		r.warning = r.doc.Broken()
	}
	for i := range result.Records {
		rec := &result.Records[i]
		if r.noRecord && rec.Kind == crawlspec.KindChunk {
			continue // a list of pages has no chunks
		}
		if r.plan.mask != nil {
			rec.MapTexts(r.plan.mask.Field)
		}
		r.records = append(r.records, ownRecord{rec.Kind, rec.AppendJSON})
	}
	r.noPage = result.NoPage
	if !r.noRecord && !r.hasPageRecord() && len(r.records) == 0 {
		r.leftOut = result.LeftOut
	}
	r.problems, r.byRules = append(r.problems, result.Problems...), *result
	if len(result.Links) == 0 || !r.mayFollow() {
		return nil
	}
	to := r.newLinkCollector()
	for _, l := range result.Links {
		to.depth = r.page.Depth + l.DepthAdd
		to.add(l.URL, l.Priority)
	}
	for _, f := range r.follow {
		if !to.seen[f.URL] {
			to.links = append(to.links, f)
		}
	}
	r.follow = to.links
	return nil
}

// field returns a field of the page for rules, as JSON.
func (r *parsedPage) field(name string) []byte { return pageFields[name](pageEncoder{r}, nil, minRead) }

// take adopts the values that were computed for rules.
func (r *parsedPage) take(own *parsedPage) {
	r.data, r.md, r.hash, r.detected = own.data, own.md, own.hash, own.detected
	r.problems, r.treeless = append(r.problems, own.problems...), own.treeless
}

// hasPageRecord reports whether the page itself has a record.
func (r *parsedPage) hasPageRecord() bool {
	return r.plan.spec.EmitsPage() && !r.noRecord && !r.noPage
}

// document returns the page for extractors.
func (r *parsedPage) document(body []byte) *Document {
	return &Document{
		URL: r.page.URL, Status: r.page.Status, Header: http.Header(r.page.Header), ContentType: r.page.ContentType,
		MediaType: r.doc.Type.Media, FetchedAt: r.page.FetchedAt, Body: body, page: r.doc,
	}
}

// runExtractor applies an extractor to the page.
func (r *parsedPage) runExtractor(ctx context.Context, x Extractor, d *Document) error {
	got, err := x.Extract(ctx, d)
	if err != nil || got == nil {
		return err
	}
	r.scanned = htmlpage.Page{Title: got.Title, Description: got.Description, Language: got.Language, Text: got.Text}
	for i := range got.Records {
		rec, err := r.encode(&got.Records[i])
		if err != nil {
			return err
		}
		r.records = append(r.records, rec)
	}
	base, err := weburl.NewBase(r.page.URL)
	if err != nil {
		return err
	}
	to := r.newLinkCollector()
	for _, ref := range got.Links {
		if u, err := base.Resolve(ref); err == nil {
			to.add(u, nil)
		}
	}
	r.follow = to.links
	return nil
}

// encode converts an extractor's record to the form of rule records.
func (r *parsedPage) encode(rec *ExtractRecord) (ownRecord, error) {
	fields, err := rec.members()
	if err != nil {
		return ownRecord{}, err
	}
	own := ownRecord{rec.Kind, func(b []byte, env extract.Envelope) []byte {
		if slices.ContainsFunc(fields, func(m jsonMember) bool { return m.name == crawlspec.FieldMetadata }) {
			env.Metadata = nil
		}
		o := env.Object(b, rec.Kind, r.plan.mask.Field("key", rec.Key))
		for _, m := range fields {
			o.Raw(m.name, r.plan.mask.JSON(m.name, m.value))
		}
		return o.End()
	}}
	if n := len(own.append(nil, r.envelope())); n > r.plan.maxRecord {
		return ownRecord{}, fmt.Errorf("record %s has %d bytes, at most %d fit a message: store less in it", rec.Kind, n, r.plan.maxRecord)
	}
	return own, nil
}
