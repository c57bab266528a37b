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
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma = separator(body, media)
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
