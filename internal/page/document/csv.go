package document

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"seine/internal/base/lazyregexp"
)

// parseCSV returns the rows as objects with the names of the first row (RFC 4180). A name that is
// empty or repeated gets the number of its column. Cells beyond the names, and missing cells, are
// omitted. broken describes a quote that is not closed.
func parseCSV(body []byte, media string) (rows []any, broken string, err error) {
	comma, body := separator(withNewlines(body), media)
	if n := longestLine(body, comma); n > maxColumns {
		return nil, "", fmt.Errorf("%w: a line of its CSV has %d cells, at most %d are read", ErrTooBig, n, maxColumns)
	}
	r := newCSVReader(body, comma)
	rows = []any{}
	first, err := r.Read()
	if err == io.EOF { //nolint:errorlint // as the reader documents it
		return rows, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read CSV: %w", err)
	}
	names, left := columnNames(first), MaxTree
	for {
		row, err := r.Read()
		if err == io.EOF { //nolint:errorlint // as the reader documents it
			return rows, broken, nil
		}
		if err != nil {
			return nil, "", fmt.Errorf("read CSV: %w", err)
		}
		if left -= sizeOfRow(row, len(names)); left < 0 {
			return nil, "", errTree("its CSV")
		}
		object := make(map[string]any, min(len(row), len(names)))
		for i := range min(len(row), len(names)) {
			object[names[i]] = row[i]
		}
		rows = append(rows, object)
		last := len(row) - 1
		if line, _ := r.FieldPos(last); r.InputOffset() == int64(len(body)) && strings.HasSuffix(row[last], "\n") && !bytes.HasSuffix(body, []byte("\"\n")) {
			broken = fmt.Sprintf("the quote in line %d of its CSV is not closed; all lines behind it are one cell", line)
		}
	}
}

func newCSVReader(body []byte, comma byte) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = rune(comma), -1, true, true
	r.TrimLeadingSpace = comma != '\t'
	return r
}

// maxColumns bounds the cells of a row, since the reader holds a row before it can be counted. It
// exceeds the 16,384 columns of spreadsheets.
const maxColumns = 20_000

// longestLine returns the number of cells in the line with the most separators. It counts each line
// of cells in quotes that span several lines.
func longestLine(body []byte, comma byte) int {
	most, cells := 1, 1
	for _, c := range body {
		switch c {
		case comma:
			cells++
			most = max(most, cells)
		case '\n':
			cells = 1
		}
	}
	return most
}

// sizeOfRow returns the memory of a row. The texts of its cells share one string.
func sizeOfRow(row []string, columns int) int {
	size := sizeElement + sizeOfMap(min(len(row), columns)) + sizeText
	for _, cell := range row {
		size += sizeText + len(cell)
	}
	return size
}

func columnNames(first []string) []string {
	names := make([]string, len(first))
	seen := make(map[string]bool, len(first))
	for i, name := range first {
		name = strings.TrimSpace(name)
		if name == "" {
			name = "column"
		}
		if seen[name] || first[i] == "" {
			name += "_" + strconv.Itoa(i+1)
		}
		seen[name] = true
		names[i] = name
	}
	return names
}

// separator returns the cell separator, and the body without a first line that names it, such as
// "sep=;". It is the tab in text/tab-separated-values. Otherwise it is the character that most of
// the first lines have as often as the very first one.
func separator(body []byte, media string) (comma byte, rest []byte) {
	line, rest, _ := bytes.Cut(body, []byte{'\n'})
	if m := namedSeparator().FindSubmatch(line); m != nil {
		return m[1][0], rest
	}
	if strings.HasSuffix(media, "tab-separated-values") {
		return '\t', body
	}
	comma, most, cells := ',', 0, 0
	for _, c := range []byte(",;\t|^~\x1f") {
		if lines, n := regularLines(body, c); lines > most || lines == most && n > cells {
			comma, most, cells = c, lines, n
		}
	}
	return comma, body
}

// namedSeparator matches a first line that names the separator, as spreadsheets write and read it.
var namedSeparator = lazyregexp.New(`(?i)^"?sep=([\t\x1f -!#-/:-@^|~])"?\r?$`)

// regularLines returns the number of cells in the first line with this separator, and how many of
// the first lines have the same number. lines is 0 if the first line has only one cell.
func regularLines(body []byte, comma byte) (lines, first int) {
	const most, far = 20, 64 << 10
	r := newCSVReader(body[:min(len(body), far)], comma)
	for range most {
		row, err := r.Read()
		if err != nil {
			break
		}
		first = cmp.Or(first, len(row))
		if first > 1 && len(row) == first {
			lines++
		}
	}
	return lines, first
}

// withNewlines replaces line ends of CR, as in old spreadsheets, and of CR CR LF, as from Python on
// Windows, by LF.
func withNewlines(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("\r\r\n"), []byte{'\n'})
	if bytes.Count(body, []byte{'\r'})-bytes.Count(body, []byte("\r\n")) <= bytes.Count(body, []byte{'\n'}) {
		return body
	}
	return bytes.ReplaceAll(body, []byte{'\r'}, []byte{'\n'})
}
