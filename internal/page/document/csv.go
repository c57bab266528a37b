package document

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// parseCSV returns the rows as objects with the names of the first row (RFC
// 4180). A name that is empty or there already gets the number of its column.
// Cells beyond the names are left out, and so are cells that a row lacks.
func parseCSV(body []byte, media string) (any, error) {
	comma := separator(body, media)
	if n := longestLine(body, byte(comma)); n > maxColumns {
		return nil, fmt.Errorf("%w: a line of its CSV has %d cells, at most %d are read", ErrTooBig, n, maxColumns)
	}
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma = comma
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	r.ReuseRecord = true
	first, err := r.Read()
	if err == io.EOF { //nolint:errorlint // as the reader documents it
		return []any{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read CSV: %w", err)
	}
	names := columnNames(first)
	rows, left := []any{}, MaxTree
	for {
		row, err := r.Read()
		if err == io.EOF { //nolint:errorlint // as the reader documents it
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read CSV: %w", err)
		}
		if left -= sizeOfRow(row, len(names)); left < 0 {
			return nil, errTree("its CSV")
		}
		object := make(map[string]any, min(len(row), len(names)))
		for i := range min(len(row), len(names)) {
			object[names[i]] = row[i]
		}
		rows = append(rows, object)
	}
}

// maxColumns bounds the cells of a row: the reader holds a row before it can be counted.
// It is what spreadsheets have, 16,384 columns, and then some.
const maxColumns = 20_000

// longestLine returns how many cells the line with the most separators has. Cells in
// quotes that go over several lines make a row of more, each line of which is counted.
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

// sizeOfRow is what a row takes in memory. The texts of its cells are one.
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

// separator is the tab of text/tab-separated-values; else of comma, semicolon
// and tab that which the first line has most.
func separator(body []byte, media string) rune {
	if strings.HasSuffix(media, "tab-separated-values") {
		return '\t'
	}
	line, _, _ := bytes.Cut(body, []byte{'\n'})
	best, most := ',', bytes.Count(line, []byte{','})
	for _, c := range ";\t" {
		if n := bytes.Count(line, []byte{byte(c)}); n > most {
			best, most = c, n
		}
	}
	return best
}
