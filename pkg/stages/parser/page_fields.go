package parser

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/truncate"
	"seine/internal/page/article"
	"seine/internal/page/convert"
	"seine/internal/page/htmlpage"
	"seine/internal/page/language"
	"seine/internal/page/mediatype"
	"seine/internal/page/simhash"
	"seine/internal/page/structured"
	"seine/pkg/messages"
)

// pageEncoder encodes the record of a page.
type pageEncoder struct{ *parsedPage }

// pageField is a field that the spec selects for the record of a page.
type pageField struct {
	name  string
	value func(r pageEncoder, b []byte, maxText int) []byte // appends JSON
}

// pageFields are the available fields, see crawlspec.PageFields. Long texts are cut at maxText
// bytes.
var pageFields = map[string]func(r pageEncoder, b []byte, maxText int) []byte{
	"url":           text(func(r pageEncoder) string { return r.page.URL }),
	"status":        number(func(r pageEncoder) int64 { return int64(r.page.Status) }),
	"content_type":  text(func(r pageEncoder) string { return r.page.ContentType }),
	"media_type":    text(func(r pageEncoder) string { return r.doc.Type.Media }),
	"type_mismatch": text(pageEncoder.typeMismatch),
	"title":         text(func(r pageEncoder) string { return r.scanned.Title }),
	"description":   text(func(r pageEncoder) string { return r.scanned.Description }),
	"canonical":     text(func(r pageEncoder) string { return r.scanned.Canonical }),
	"language":      text(pageEncoder.language),
	"text_language": text(pageEncoder.textLanguage),
	"charset":       text(func(r pageEncoder) string { return r.scanned.Charset }),
	"noindex":       func(r pageEncoder, b []byte, _ int) []byte { return strconv.AppendBool(b, r.scanned.NoIndex) },
	"text":          long("text"),
	"headings":      pageEncoder.appendHeadings,
	"author":        text(func(r pageEncoder) string { return r.structured().Author }),
	"published":     text(func(r pageEncoder) string { return r.structured().Published }),
	"modified":      text(func(r pageEncoder) string { return r.structured().Modified }),
	"main":          long("main"),
	"markdown":      long("markdown"),
	"json_ld": func(r pageEncoder, b []byte, _ int) []byte {
		return jsontext.AppendList(b, r.structured().JSONLD, jsontext.AppendRaw)
	},
	"microdata": func(r pageEncoder, b []byte, _ int) []byte {
		return structured.AppendItems(b, r.structured().Microdata)
	},
	"rdfa":         func(r pageEncoder, b []byte, _ int) []byte { return structured.AppendItems(b, r.structured().RDFa) },
	"open_graph":   func(r pageEncoder, b []byte, _ int) []byte { return r.structured().OpenGraph.AppendJSON(b) },
	"twitter":      func(r pageEncoder, b []byte, _ int) []byte { return r.structured().Twitter.AppendJSON(b) },
	"links":        pageEncoder.appendLinks,
	"digest":       text(func(r pageEncoder) string { return r.page.Digest }),
	"simhash":      text(func(r pageEncoder) string { return fmt.Sprintf("%016x", r.simhash()) }),
	"duplicate_of": text(pageEncoder.duplicate),
	"fetched_at":   func(r pageEncoder, b []byte, _ int) []byte { return jsontext.AppendTime(b, r.page.FetchedAt) },
	"fetch_ms":     number(func(r pageEncoder) int64 { return time.Duration(r.page.Timings.Total).Milliseconds() }),
	"bytes":        number(func(r pageEncoder) int64 { return r.page.BodySize }),
	"depth":        number(func(r pageEncoder) int64 { return int64(r.page.Depth) }),
	"rendered":     text(func(r pageEncoder) string { return r.page.Rendered }),
	"referrer":     text(func(r pageEncoder) string { return r.page.Referrer }),
	"crawl":        text(func(r pageEncoder) string { return r.page.Crawl }),
	"metadata":     func(r pageEncoder, b []byte, _ int) []byte { return r.page.Metadata.AppendJSON(b) },
	"visit":        text(func(r pageEncoder) string { return r.page.Visit.String() }),
	"run":          number(func(r pageEncoder) int64 { return r.page.Run }),
	"pages":        number(func(r pageEncoder) int64 { return int64(r.converted().Pages) }),
	"no_text":      text(func(r pageEncoder) string { return r.converted().NoText }),
}

func text(value func(pageEncoder) string) func(pageEncoder, []byte, int) []byte {
	return func(r pageEncoder, b []byte, _ int) []byte {
		return jsontext.AppendString(b, truncate.To(value(r), minText))
	}
}

// longTexts are the fields that are cut at --max-text, and then listed in "truncated".
var longTexts = map[string]func(pageEncoder) string{
	"text":     func(r pageEncoder) string { return r.scanned.Text },
	"main":     pageEncoder.mainText,
	"markdown": pageEncoder.markdown,
}

func long(name string) func(pageEncoder, []byte, int) []byte {
	value := longTexts[name]
	return func(r pageEncoder, b []byte, maxText int) []byte {
		return jsontext.AppendString(b, truncate.To(value(r), maxText))
	}
}

func number(value func(pageEncoder) int64) func(pageEncoder, []byte, int) []byte {
	return func(r pageEncoder, b []byte, _ int) []byte { return strconv.AppendInt(b, value(r), 10) }
}

// converted returns the conversion of a file, zero for a page.
func (pe pageEncoder) converted() convert.Result {
	if pe.file == nil {
		return convert.Result{}
	}
	return *pe.file
}

// typeMismatch returns the detected type, if it differs from the header's.
func (pe pageEncoder) typeMismatch() string {
	if !pe.doc.Type.Mismatch {
		return ""
	}
	return pe.doc.Type.Sniffed
}

// language returns the declared language of the page, otherwise that of its text. Without fields in
// the spec, the record has only the declared one, which costs nothing.
func (pe pageEncoder) language() string {
	if pe.scanned.Language != "" {
		return pe.scanned.Language
	}
	return pe.textLanguage()
}

// textLanguage returns the language of the page's text, "" if it is uncertain.
func (pe pageEncoder) textLanguage() string {
	if pe.detected == nil {
		pe.detected = new(language.Detect(pe.ownText()))
	}
	return *pe.detected
}

func (pe pageEncoder) main() article.Content {
	if pe.dom() == nil {
		return article.Content{}
	}
	content, _ := pe.doc.Main()
	return content
}

// mainText returns the text of the main content. A text document consists of nothing else.
func (pe pageEncoder) mainText() string {
	if pe.doc.Type.Class == mediatype.Text {
		return pe.scanned.Text
	}
	return pe.main().Text
}

// ownText returns the text that other pages of the site do not share: without menus, which may be
// longer, and in another language. If there is no main content, it returns all text.
func (pe pageEncoder) ownText() string {
	if content, err := pe.doc.Main(); err == nil && content.Text != "" {
		return content.Text
	}
	return pe.scanned.Text
}

// markdown returns the main content as Markdown. A text document is unchanged: it may be Markdown.
func (pe pageEncoder) markdown() string {
	if pe.md == nil {
		pe.md = new(string)
		if pe.doc.Type.Class == mediatype.Text {
			*pe.md = string(truncate.To(pe.doc.Body(), pe.plan.scan.MaxText))
		} else if n := pe.main().Node; n != nil {
			*pe.md = article.Markdown(n, pe.doc.BaseURL())
		}
	}
	return *pe.md
}

func (pe pageEncoder) simhash() uint64 {
	if pe.hash == nil {
		h := simhash.Of(pe.ownText())
		pe.hash = &h
	}
	return *pe.hash
}

func (pe pageEncoder) duplicate() string {
	if pe.duplicateOf.IsZero() {
		return ""
	}
	return pe.duplicateOf.String()
}

func (pe pageEncoder) appendHeadings(b []byte, _ int) []byte {
	return jsontext.AppendList(b, pe.scanned.Headings, func(b []byte, h htmlpage.Heading) []byte {
		o := jsontext.Object{B: b}
		o.Int("level", int64(h.Level))
		o.Text("text", h.Text)
		if h.Page > 0 {
			o.Int("page", int64(h.Page))
		}
		return o.End()
	})
}

// appendLinks lists the links of the page of all kinds, followed or not.
func (pe pageEncoder) appendLinks(b []byte, _ int) []byte {
	return jsontext.AppendList(b, pe.scanned.Links, func(b []byte, l htmlpage.Link) []byte {
		o := jsontext.Object{B: b}
		o.Text("url", l.URL)
		o.Text("kind", l.Kind.String())
		o.TextSet("text", pe.plan.mask.Field("text", l.Text))
		o.TextSet("rel", l.Rel)
		if l.Page > 0 {
			o.Int("page", int64(l.Page))
		}
		if l.NoFollow {
			o.Bool("nofollow", true)
		}
		return o.End()
	})
}

// large are the fields that are dropped from a record that is too large, in this order, if cutting
// texts was not enough.
var large = []string{"links", "microdata", "rdfa", "json_ld", "open_graph", "twitter", "headings"}

// encodePage encodes the record of a page with the fields of the spec. If it does not fit a
// message, its texts are cut, then large fields are dropped. "truncated" lists them.
func (pe pageEncoder) encodePage(maxText int) []byte {
	var without []string
	for {
		b := pe.encodeFields(maxText, without)
		switch {
		case len(b) <= pe.plan.maxRecord:
			return b
		case maxText > minText:
			maxText /= 2
		case len(without) < len(large):
			without = large[:len(without)+1]
		default:
			return b // impossible: the rest is bounded
		}
	}
}

// minText is the least remaining size of long texts, and a bound for the other texts. There are
// three long texts, each byte may take six in JSON, and the other half of the record must suffice
// for all other fields.
const minText = 32 << 10

func (pe pageEncoder) encodeFields(maxText int, without []string) []byte {
	o := jsontext.Object{B: make([]byte, 0, len(pe.scanned.Text)+2048)}
	var truncated []string
	for _, f := range pe.plan.fields {
		if slices.Contains(without, f.name) {
			truncated = append(truncated, f.name)
			continue
		}
		o.Key(f.name)
		from := len(o.B)
		o.B = f.value(pe, o.B, maxText)
		if whole := longTexts[f.name]; whole != nil && isCut(whole(pe), maxText) {
			truncated = append(truncated, f.name)
		}
		if pe.plan.mask.Of(f.name) {
			o.B = append(o.B[:from], pe.plan.mask.JSON(f.name, o.B[from:])...)
		}
	}
	if len(truncated) > 0 {
		o.Texts("truncated", truncated)
	}
	if pe.page.Cut != "" {
		o.Text("cut", pe.page.Cut)
	}
	if len(pe.page.RenderProblems) > 0 {
		o.Key("render_problems")
		o.B = append(o.B, messages.Encode(pe.page.RenderProblems)...)
	}
	return o.End()
}
