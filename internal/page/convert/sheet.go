package convert

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/lazyregexp"
)

// Limits of a workbook.
const (
	maxStrings = 1_000_000
	maxGap     = 64 // empty cells between two cells
)

// workbook reads SpreadsheetML.
type workbook struct {
	*archive
	strings []string
	dates   []bool // whether each cell format, by number, is a date format
	epoch   time.Time
}

func (a *archive) readWorkbook(main string, b []byte) {
	rels := a.relationsOf(main)
	w := &workbook{archive: a, epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	w.readStrings(a.open(rels.first("sharedStrings")))
	w.readStyles(a.open(rels.first("styles")))
	var sheets [][2]string
	a.elements(b, func(e *element) {
		switch e.name() {
		case "sheet":
			if len(sheets) < maxEntries {
				sheets = append(sheets, [2]string{e.attr("name"), rels[e.prefixed("id")].target})
			}
		case "workbookpr":
			if v := e.attr("date1904"); v == "1" || v == "true" {
				w.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		}
	}, nil, nil)
	a.pages = len(sheets)
	for i, s := range sheets {
		a.section(i + 1)
		a.startHeading(2)
		a.text(s[0])
		a.endHeading(2)
		w.readSheet(s[1])
		if a.full {
			return
		}
	}
}

// readStrings reads the shared strings, without their phonetic readings.
func (w *workbook) readStrings(b []byte) {
	var one strings.Builder
	inText, aloud := false, false
	w.elements(b, func(e *element) {
		switch e.name() {
		case "t":
			inText = !aloud
		case "rph":
			aloud = true
		}
	}, func(name string) {
		switch name {
		case "t":
			inText = false
		case "rph":
			aloud = false
		case "si":
			if len(w.strings) < maxStrings {
				w.strings = append(w.strings, one.String())
			}
			one.Reset()
		}
	}, func(s string) {
		if inText {
			one.WriteString(s)
		}
	})
}

// dateCode matches a number format that shows a date or a time, after its quoted parts and colors
// are removed.
var (
	dateCode   = lazyregexp.New(`(?i)[ymdhs]`)
	quotedCode = lazyregexp.New(`"[^"]*"|\[[^\]]*\]|\\.`)
)

func (w *workbook) readStyles(b []byte) {
	custom, inCells := make(map[string]bool), false
	w.elements(b, func(e *element) {
		switch e.name() {
		case "numfmt":
			if len(custom) < maxEntries {
				custom[e.attr("numfmtid")] = dateCode().MatchString(quotedCode().ReplaceAllString(e.attr("formatcode"), ""))
			}
		case "cellxfs":
			inCells = true
		case "xf":
			if inCells && len(w.dates) < maxEntries {
				id, _ := strconv.Atoi(e.attr("numfmtid"))
				w.dates = append(w.dates, custom[e.attr("numfmtid")] || id >= 14 && id <= 22 || id >= 45 && id <= 47)
			}
		}
	}, func(name string) { inCells = inCells && name != "cellxfs" }, nil)
}

// cell is the current cell.
type cell struct {
	ref, kind string
	style     int
	value     strings.Builder
}

func (w *workbook) readSheet(name string) {
	b, rels := w.open(name), w.relationsOf(name)
	links := make(map[string]string) // they follow the cells
	if at := bytes.LastIndex(b, []byte("<hyperlinks")); at >= 0 {
		before := w.err
		w.elements(b[at:], func(e *element) {
			if e.name() == "hyperlink" && len(links) < maxEntries {
				links[e.attr("ref")] = rels.url(e.prefixed("id"))
			}
		}, nil, nil)
		w.err = before // this part has end tags without start tags
	}
	var c *cell
	column, inValue, rows := 0, false, 0
	w.elements(b, func(e *element) {
		switch e.name() {
		case "row":
			if rows++; rows == 1 {
				w.tag("<table>\n")
			}
			w.tag("<tr>")
			column = 0
		case "c":
			c = &cell{ref: e.attr("r"), kind: e.attr("t")}
			c.style, _ = strconv.Atoi(e.attr("s"))
			at := columnOf(c.ref)
			for range min(max(at-column-1, 0), maxGap) {
				w.tag("<td></td>")
			}
			column = max(at, column+1)
		case "v", "t":
			inValue = c != nil
		}
	}, func(name string) {
		switch name {
		case "v", "t":
			inValue = false
		case "c":
			if c != nil {
				w.writeCell(c, links[c.ref])
			}
			c = nil
		case "row":
			w.tag("</tr>\n")
		}
	}, func(s string) {
		if inValue {
			c.value.WriteString(s)
		}
	})
	if rows > 0 {
		w.tag("</table>\n")
	}
}

func (w *workbook) writeCell(c *cell, url string) {
	w.tag("<td>")
	linked := url != "" && w.link(url)
	w.text(w.shown(c))
	if linked {
		w.endLink()
	}
	w.tag("</td>")
}

// shown returns the displayed text of a cell.
func (w *workbook) shown(c *cell) string {
	v := c.value.String()
	switch c.kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && i >= 0 && i < len(w.strings) {
			return w.strings[i]
		}
		return ""
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE"}[v]
	case "", "n":
		days, err := strconv.ParseFloat(v, 64)
		if err == nil && c.style >= 0 && c.style < len(w.dates) && w.dates[c.style] && days >= 0 && days < 2958466 {
			return w.date(days)
		}
		if err == nil && strings.ContainsAny(v, ".eE") { // 0.30000000000000004 is 0.3
			return strconv.FormatFloat(days, 'g', 15, 64)
		}
	}
	return v
}

// date returns a date, a time or both for a number of days since the epoch.
func (w *workbook) date(days float64) string {
	whole, part := math.Modf(days)
	t := w.epoch.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round(part*86400)) * time.Second)
	switch {
	case whole == 0:
		return t.Format(time.TimeOnly)
	case part == 0:
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// columnOf returns the number of a cell's column, from 1, or 0 if it has none.
func columnOf(ref string) (n int) {
	for _, r := range ref {
		if r < 'A' || r > 'Z' || n > 16384 {
			break
		}
		n = n*26 + int(r-'A') + 1
	}
	return n
}
