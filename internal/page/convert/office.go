package convert

import (
	"strconv"
	"strings"

	"seine/internal/base/lazyregexp"
)

// readOffice reads a file of Office Open XML (ECMA-376).
func (a *archive) readOffice() error {
	root := a.relationsOf("")
	core := root.first("core-properties")
	if core == "" {
		core = "docProps/core.xml"
	}
	a.properties(a.open(core), map[string]*string{
		"title": &a.title, "creator": &a.author, "description": &a.description, "language": &a.language, "created": &a.created, "modified": &a.modified,
	})
	main := root.first("officeDocument")
	for _, usual := range []string{"word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"} {
		if a.files[main] == nil {
			main = usual
		}
	}
	b := a.open(main)
	if b == nil {
		return fail(Damaged, "its main part is missing")
	}
	kind := ""
	a.elements(b[:min(len(b), 4096)], func(e *element) {
		if kind == "" {
			kind = e.name()
		}
	}, nil, nil)
	switch a.err = nil; kind { // the part of the XML that was examined is truncated
	case "document":
		a.readWord(main, b)
	case "workbook":
		a.readWorkbook(main, b)
	case "presentation":
		a.readSlides(main, b)
	default:
		return fail(Unsupported, "its main part is %q", kind)
	}
	return nil
}

// readWord reads a text document.
func (a *archive) readWord(main string, b []byte) {
	rels := a.relationsOf(main)
	w := &office{archive: a, rels: rels, levels: make(map[string]int)}
	style := ""
	a.elements(a.open(rels.first("styles")), func(e *element) {
		switch value := e.attr("val"); e.name() {
		case "style":
			style = e.attr("styleid")
		case "name":
			if level, found := strings.CutPrefix(strings.ToLower(value), "heading "); found {
				w.levels[style], _ = strconv.Atoi(level)
			} else if strings.EqualFold(value, "title") {
				w.levels[style] = 1
			}
		case "outlinelvl":
			if n, err := strconv.Atoi(value); err == nil && n < 9 && style != "" {
				w.levels[style] = n + 1
			}
		case "lang":
			if a.language == "" {
				a.language = value
			}
		}
	}, nil, nil)
	w.read(b)
	for _, kind := range []string{"footnotes", "endnotes"} {
		if name := rels.first(kind); name != "" {
			w.rels = a.relationsOf(name)
			w.read(a.open(name))
		}
	}
}

// readSlides reads a presentation.
func (a *archive) readSlides(main string, b []byte) {
	rels := a.relationsOf(main)
	var slides []string
	a.elements(b, func(e *element) {
		if e.name() == "sldid" && len(slides) < maxEntries {
			slides = append(slides, rels[e.prefixed("id")].target)
		}
	}, nil, nil)
	a.pages = len(slides)
	for i, name := range slides {
		a.section(i + 1)
		s := &office{archive: a, rels: a.relationsOf(name), slide: true}
		s.read(a.open(name))
		if a.full {
			return
		}
	}
}

// office reads WordprocessingML, and DrawingML, whose elements have the same names.
type office struct {
	*archive
	rels   relations
	levels map[string]int // of headings, by style
	slide  bool

	inText  bool   // inside an element whose text counts
	list    bool   // a list is open
	pending string // instruction of a field, which has its URL; the text follows
	inField bool   // inside the field's instruction
	field   bool   // its link is open

	paragraph bool   // a paragraph is open; its start may not be written yet
	begun     string // end tag of the paragraph, once its start is written
	level     int    // of the paragraph's heading
	item      bool   // it is a list item
	title     bool   // of a slide
	run       string // URL of the run
}

func (o *office) read(b []byte) {
	o.elementsBut(skippedOffice, b, o.start, o.end, func(s string) {
		switch {
		case o.inText:
			o.write(s)
		case o.inField && len(o.pending) < 1<<13:
			o.pending += s
		}
	})
	o.endParagraph()
	o.endList()
}

// skippedOffice are elements with deleted and moved text, alternatives for older programs, and
// positions.
var skippedOffice = map[string]bool{"del": true, "movefrom": true, "fallback": true, "posoffset": true, "pctwidth": true, "pctheight": true}

var hyperlink = lazyregexp.New(`(?i)HYPERLINK\s+"([^"]+)"`)

func (o *office) start(e *element) {
	switch e.name() {
	case "p":
		o.endParagraph()
		o.paragraph, o.level, o.item = true, 0, false
		if o.slide && o.title {
			o.level = 1
		}
	case "pstyle":
		o.level = o.levels[e.attr("val")]
	case "outlinelvl":
		if n, err := strconv.Atoi(e.attr("val")); err == nil && n < 9 && o.begun == "" {
			o.level = n + 1
		}
	case "numpr", "buchar", "buautonum":
		o.item = true
	case "t":
		o.inText = true
	case "tab":
		if o.begun != "" {
			o.write(" ")
		}
	case "br", "cr":
		if o.begun != "" {
			o.tag("<br>")
		}
	case "nobreakhyphen":
		o.write("\u2011")
	case "hyperlink":
		o.begin()
		o.startLink(o.rels.url(e.prefixed("id")))
	case "hlinkclick":
		o.run = o.rels.url(e.prefixed("id"))
	case "instrtext":
		o.inField = true
	case "fldsimple":
		o.pending = e.attr("instr")
		o.openField()
	case "fldchar":
		o.fieldChar(e.attr("fldchartype"))
	case "ph":
		o.title = strings.Contains(strings.ToLower(e.attr("type")), "title")
	case "sp":
		o.title = false
	case "tbl", "tr", "tc":
		o.startTable(e)
	}
}

func (o *office) startTable(e *element) {
	o.endParagraph()
	o.endList()
	o.tag(map[string]string{"tbl": "<table>\n", "tr": "<tr>", "tc": "<td>"}[e.name()])
}

// fieldChar reads a marker of a field (ECMA-376 part 1, section 17.16): the field has an
// instruction, then a text.
func (o *office) fieldChar(kind string) {
	switch kind {
	case "begin":
		o.pending = ""
	case "separate":
		o.openField()
	case "end":
		o.closeField()
	}
}

func (o *office) openField() {
	if m := hyperlink().FindStringSubmatch(o.pending); m != nil && !o.field {
		o.begin()
		o.field = o.link(m[1])
	}
	o.pending = ""
}

func (o *office) closeField() {
	if o.field {
		o.endLink()
		o.field = false
	}
}

func (o *office) end(name string) {
	switch name {
	case "p":
		o.endParagraph()
	case "t":
		o.inText = false
	case "instrtext":
		o.inField = false
	case "r":
		o.run = ""
	case "hyperlink":
		o.closeLink()
	case "fldsimple":
		o.closeField()
	case "tbl", "tr", "tc":
		o.endParagraph()
		o.endList()
		o.tag(map[string]string{"tbl": "</table>\n", "tr": "</tr>\n", "tc": "</td>"}[name])
	}
}

// begin writes the start of a paragraph, once the paragraph has content.
func (o *office) begin() {
	if !o.paragraph || o.begun != "" {
		return
	}
	switch {
	case o.level > 0:
		o.endList()
		o.startHeading(o.level)
		o.begun = "h"
	case o.item:
		if !o.list {
			o.tag("<ul>\n")
			o.list = true
		}
		o.tag("<li>")
		o.begun = "</li>\n"
	default:
		o.endList()
		o.tag("<p>")
		o.begun = "</p>\n"
	}
}

func (o *office) write(s string) {
	o.begin()
	linked := o.run != "" && len(o.links) == 0 && o.link(o.run)
	o.text(s)
	if linked {
		o.endLink()
	}
}

func (o *office) endParagraph() {
	if o.begun == "h" {
		o.endHeading(o.level)
	} else {
		o.tag(o.begun)
	}
	o.paragraph, o.begun = false, ""
}

func (o *office) endList() {
	if o.list {
		o.tag("</ul>\n")
		o.list = false
	}
}
