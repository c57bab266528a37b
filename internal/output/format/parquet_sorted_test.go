package format

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"seine/internal/base/jsontext"
	"seine/internal/output/ageencrypt"
)

// Each row group is sorted by URL, and has the same records as without sorting.
func TestSortedByURL(t *testing.T) {
	_, lines := pages(1200) // some 10 MB
	o := ofPages()
	plain := encode(t, newFormat(t, "parquet", o), lines...)
	o.SortedByURL = true
	sorted := encode(t, newFormat(t, "parquet", o), lines...)
	before, after := rowsOfGroups(t, plain), rowsOfGroups(t, sorted)
	if !slices.Equal(before, after) || len(after) < 3 {
		t.Errorf("row groups of %d records, want %d", after, before)
	}
	want, got := urlsOf(t, plain), urlsOf(t, sorted)
	for _, n := range before {
		slices.Sort(want[:n])
		if !slices.Equal(got[:n], want[:n]) {
			t.Fatal("a row group is not sorted, or has other records")
		}
		want, got = want[n:], got[n:]
	}
}

func rowsOfGroups(t *testing.T, file []byte) (rows []int64) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	fatal(t, err)
	for _, g := range f.RowGroups() {
		rows = append(rows, g.NumRows())
	}
	return rows
}

func urlsOf(t *testing.T, file []byte) (urls []string) {
	t.Helper()
	_, err := EachRecord("a.parquet", bytes.NewReader(file), ageencrypt.Identities{}, func(line []byte) error {
		var r struct {
			URL string `json:"url"`
		}
		err := jsontext.Unmarshal(line, &r)
		urls = append(urls, r.URL)
		return err
	})
	fatal(t, err)
	return urls
}
