package article

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// table writes a data table as a table, and any other table cell by cell.
func (r *renderer) table(n *html.Node, depth int) {
	g := readGrid(n)
	if g == nil {
		r.cells(n, depth)
		return
	}
	if g.caption != nil {
		r.children(g.caption, depth+1)
	}
	rows := g.rows
	var head gridRow
	if len(rows) > 0 && rows[0].isHead() {
		head, rows = rows[0], rows[1:]
	}
	r.row(head, g.columns, depth)
	r.out.newline()
	r.out.raw("|")
	for i := range g.columns {
		r.out.raw(head.align(i) + "|")
	}
	for _, row := range rows {
		r.out.newline()
		r.row(row, 0, depth)
	}
	r.out.endBlock()
}

// row writes a row with at least this many cells. Rows may have fewer cells than the table.
func (r *renderer) row(row gridRow, least, depth int) {
	r.out.text("|")
	for i := range max(least, len(row)) {
		text := ""
		if i < len(row) && row[i] != nil {
			s := &spans{renderer: r, cell: true}
			s.children(row[i], depth+3)
			text = s.line(inCell)
		}
		if text != "" {
			r.out.raw(" " + text)
		}
		r.out.raw(" |")
	}
}

// cells writes a layout table: the content of its cells, one after the other.
func (r *renderer) cells(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil && !r.out.full(); c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr:
			if depth > maxDepth {
				r.plain(c)
				continue
			}
			r.cells(c, depth+1)
		default:
			if c.Type == html.ElementNode {
				r.block(c, depth+1)
			}
		}
	}
}

// gridRow is the cells of a row; nil for positions that another cell spans.
type gridRow []*html.Node

// grid is a table of data.
type grid struct {
	caption *html.Node
	rows    []gridRow
	columns int

	spans  [maxColumns]int // rows that the cell above still spans, by column
	blocks bool            // its cells contain lists or code
}

// readGrid reads a table. It returns nil for one that Markdown cannot express, or that is only
// layout: with one row or column, with a table, a heading or multi-line code in it, or with lists
// or code but without column headings.
func readGrid(n *html.Node) *grid {
	if role := dom.Attribute(n, "role"); role == "presentation" || role == "none" {
		return nil
	}
	g := &grid{}
	for w := dom.Walk(n); w.Next(); {
		switch {
		case w.Leaving || w.Node == n || w.Node.Type != html.ElementNode:
		case w.Node.DataAtom == atom.Tr:
			if !g.readRow(w.Node) {
				return nil
			}
		case w.Node.DataAtom == atom.Tbody, w.Node.DataAtom == atom.Thead, w.Node.DataAtom == atom.Tfoot:
			clear(g.spans[:]) // cells do not span row groups
		case w.Node.DataAtom == atom.Caption:
			g.caption = w.Node
			w.Skip()
		case isNoCell(w.Node):
			return nil
		case w.Node.DataAtom == atom.Pre:
			if strings.Contains(codeText(w.Node), "\n") {
				return nil
			}
			g.blocks = true
		case w.Node.DataAtom == atom.Ul || w.Node.DataAtom == atom.Ol:
			g.blocks = true
		}
	}
	if len(g.rows) < 2 || g.columns < 2 || g.blocks && !g.rows[0].isHead() {
		return nil
	}
	return g
}

func isNoCell(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Table, atom.Dl, atom.Blockquote, atom.Hr, atom.Form, atom.Article,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// readRow adds a row, and reports whether it has no more than maxColumns.
func (g *grid) readRow(tr *html.Node) bool {
	var row gridRow
	g.fill(&row)
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if !isCell(c) || isUnseen(c) {
			continue
		}
		across, down := spanOf(c, "colspan"), spanOf(c, "rowspan")
		if strings.TrimSpace(dom.Attribute(c, "rowspan")) == "0" { // up to the end of the row group
			down = maxSpan
		}
		if len(row)+across > maxColumns {
			return false
		}
		for i := range across {
			g.spans[len(row)] = down - 1
			cell := c
			if i > 0 {
				cell = nil
			}
			row = append(row, cell)
		}
		g.fill(&row)
	}
	if len(row) > 0 {
		g.rows = append(g.rows, row)
		g.columns = max(g.columns, len(row))
	}
	return true
}

// fill adds the columns that cells above span.
func (g *grid) fill(row *gridRow) {
	for len(*row) < maxColumns && g.spans[len(*row)] > 0 {
		g.spans[len(*row)]--
		*row = append(*row, nil)
	}
}

const maxSpan = 65534

// spanOf returns the number of columns or rows of a cell: 1 if it has none (HTML standard, section 4.9.11).
func spanOf(n *html.Node, name string) int {
	v, _ := strconv.Atoi(strings.TrimSpace(dom.Attribute(n, name)))
	return min(max(v, 1), maxSpan)
}

// isHead reports whether a row has headings.
func (row gridRow) isHead() bool {
	for _, c := range row {
		if c != nil && c.DataAtom != atom.Th {
			return c.Parent.Parent != nil && c.Parent.Parent.DataAtom == atom.Thead
		}
	}
	return true
}

// align returns the rule below the heading of a column.
func (row gridRow) align(i int) string {
	if i >= len(row) || row[i] == nil {
		return " --- "
	}
	style := strings.ReplaceAll(dom.Attribute(row[i], "style"), " ", "")
	is := func(side string) bool {
		return strings.EqualFold(dom.Attribute(row[i], "align"), side) || strings.Contains(style, "text-align:"+side)
	}
	switch {
	case is("right"):
		return " ---: "
	case is("center"):
		return " :---: "
	}
	return " --- "
}
