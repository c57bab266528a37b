package convert

import (
	"bytes"
	"strconv"
	"strings"
)

// openDocument reads an OpenDocument text, spreadsheet or presentation (ISO/IEC 26300).
type openDocument struct{ *archive }

func (o openDocument) read() error {
	if bytes.Contains(o.open("META-INF/manifest.xml"), []byte("encryption-data")) {
		return fail(Encrypted, "it needs a password")
	}
	first, last := "", ""
	o.properties(o.open("meta.xml"), map[string]*string{
		"title": &o.title, "initial-creator": &first, "creator": &last, "description": &o.description,
		"language": &o.language, "creation-date": &o.created, "date": &o.modified,
	})
	if o.author = first; first == "" {
		o.author = last
	}
	if o.language == "" {
		o.elements(o.open("styles.xml"), func(e *element) {
			if l := e.attr("language"); e.name() == "text-properties" && o.language == "" && l != "none" {
				o.language = l
			}
		}, nil, nil)
	}
	r := &odReader{openDocument: o}
	o.elementsBut(skippedOpenDocument, o.open("content.xml"), r.start, r.end, func(s string) {
		if r.open > 0 {
			o.text(s)
		}
	})
	return nil
}

// odReader reads the content of an OpenDocument file.
type odReader struct {
	openDocument
	open   int // number of open paragraphs
	level  int // of the current heading
	sheets bool
	repeat int // repetitions of the current cell
	from   int // start of its content
}

// skippedOpenDocument are elements with deleted text, remarks, speaker notes, templates and
// numbers.
var skippedOpenDocument = map[string]bool{
	"tracked-changes": true, "annotation": true, "notes": true, "forms": true, "index-title-template": true, "shapes": true,
	"note-citation": true, "sequence-decls": true, "desc": true,
}

// odTags maps elements to HTML.
var odTags = map[string]string{"p": "p", "list": "ul", "list-item": "li", "list-header": "li", "table": "table", "table-row": "tr"}

func (r *odReader) start(e *element) {
	name := e.name()
	switch name {
	case "h":
		r.level, _ = strconv.Atoi(e.attr("outline-level"))
		r.startHeading(r.level)
		r.open++
		return
	case "p":
		r.open++
	case "spreadsheet":
		r.sheets = true
	case "page":
		r.pages++
		r.section(r.pages)
	case "a":
		r.startLink(e.attr("href"))
	case "s":
		r.text(" ")
	case "tab":
		r.text(" ")
	case "line-break":
		r.tag("<br>")
	case "table":
		if r.sheets {
			r.pages++
			r.section(r.pages)
			r.startHeading(2)
			r.text(e.attr("name"))
			r.endHeading(2)
		}
	case "table-cell", "covered-table-cell":
		r.repeat, _ = strconv.Atoi(e.attr("number-columns-repeated"))
		r.tag("<td" + span(e, "number-columns-spanned", "colspan") + span(e, "number-rows-spanned", "rowspan") + ">")
		r.from = r.body.Len()
		return
	}
	if tag := odTags[name]; tag != "" {
		r.tag("<" + tag + ">")
	}
}

// span returns an attribute for a cell that spans several rows or columns.
func span(e *element, name, as string) string {
	if n, err := strconv.Atoi(e.attr(name)); err == nil && n > 1 && n <= 1000 {
		return " " + as + `="` + strconv.Itoa(n) + `"`
	}
	return ""
}

func (r *odReader) end(name string) {
	switch name {
	case "h":
		r.endHeading(r.level)
		r.open = max(r.open-1, 0)
		return
	case "p":
		r.open = max(r.open-1, 0)
	case "a":
		r.closeLink()
	case "table-cell", "covered-table-cell":
		r.endCell()
		return
	}
	if tag := odTags[name]; tag != "" {
		r.tag("</" + tag + ">\n")
	}
}

// endCell ends a cell and writes its repetitions, unless it is the empty rest of a row.
func (r *odReader) endCell() {
	content := r.body.String()[min(r.from, r.body.Len()):]
	r.tag("</td>")
	if strings.Contains(content, "<table") || r.repeat > maxGap {
		return
	}
	for range r.repeat - 1 {
		r.tag("<td>" + content + "</td>")
	}
	r.repeat = 0
}
