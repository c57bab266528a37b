package items_test

import (
	"bytes"
	"fmt"
	"testing"

	"seine/internal/ops/items"
	"seine/internal/output/sqlsink"
	"seine/pkg/messages"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The kinds of an output are in separate files: changes do not depend on the order of the files,
// however many records there are.
func TestChangesInAnyOrderOfFiles(t *testing.T) {
	const pages = 5000
	found := func(run int) (products [][]byte) {
		for n := range pages {
			products = append(products, record(run, n, fmt.Sprintf(`"kind":"product","key":"k%d","price":1`, n)))
		}
		return products
	}
	same := func(run int) (visits [][]byte) {
		for n := range pages {
			visits = append(visits, record(run, n, `"kind":"visit","status":304,"class":"not_modified","same":true`))
		}
		return visits
	}
	files := []struct {
		kind  string
		lines [][]byte
	}{{"product", append(found(1), found(4)...)}, {"visit", append(same(3), same(2)...)}}
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		store, err := items.New()
		check(t, err)
		for _, file := range order {
			for _, line := range files[file].lines {
				check(t, store.Add("shop", files[file].kind, line))
			}
		}
		check(t, store.Finish())
		for run := range int64(4) {
			run++
			n := 0
			want := []byte(map[bool]string{true: `"change":"new"`, false: `"change":"same"`}[run == 1])
			check(t, store.EachChange(sqlsink.Choice{Run: &run}, func(_ string, line []byte) error {
				if bytes.Contains(line, want) {
					n++
				}
				return nil
			}))
			if n != pages {
				t.Errorf("files in the order %v, run %d: %d changes with %s, want %d", order, run, n, want, pages)
			}
		}
		check(t, store.Close())
	}
}

// record returns the record of page n in a run.
func record(run, n int, fields string) []byte {
	url := fmt.Sprintf("https://a.test/%d", n)
	visit := messages.Visit{URL: messages.HashURL(url), Round: uint64(run)}
	return fmt.Appendf(nil, `{"url":%q,"fetched_at":"2026-11-21T%02d:%02d:%02d.5Z","crawl":"shop","visit":%q,"run":%d,%s}`,
		url, run, n/60%60, n%60, visit, run, fields)
}
