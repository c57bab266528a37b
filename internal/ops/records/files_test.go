package records

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"seine/internal/output"
)

// commits are the entries of a log, stored one second apart.
type commits []output.Commit

func (l commits) List(int) (refs []output.Ref, err error) {
	for i := range l {
		refs = append(refs, output.Ref{Name: l[i].Name()})
	}
	output.SortRefs(refs)
	return refs, nil
}

func (l commits) Read(ref output.Ref) (*output.Commit, error) {
	for i := range l {
		if l[i].Name() == ref.Name {
			return &l[i], nil
		}
	}
	return nil, fmt.Errorf("no entry %s", ref)
}

func (commits) Open(output.File) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}

// logOf returns a log of commits in three partitions, with two files each.
func logOf(many int) (l commits) {
	for i := range many {
		c := output.Commit{Partition: i % 3, Created: time.Unix(0, 0), FirstSeq: uint64(i), Stored: time.Unix(int64(i), 0)}
		for _, crawl := range []string{"a", "b"} {
			c.Files = append(c.Files, output.File{Path: fmt.Sprintf("%s/%d", crawl, i), Crawl: crawl})
		}
		l = append(l, c)
	}
	return l
}

// Each file is listed once, the newest first, whatever its partition and whatever is committed
// between two pages.
func TestFilesAreToldFromTheNewestToTheOldest(t *testing.T) {
	for _, most := range []int{1, 3, 50} {
		log, cursor, next := logOf(20), "", 19*2
		for {
			page, err := Files(t.Context(), output.Output{Log: log}, "", cursor, most)
			if err != nil || len(page.Files) > most {
				t.Fatalf("%d files, %v", len(page.Files), err)
			}
			for i := range page.Files {
				want := fmt.Sprintf("%s/%d", []string{"a", "b"}[next%2], next/2)
				if page.Files[i].Path != want {
					t.Fatalf("%d at a time: %s, want %s", most, page.Files[i].Path, want)
				}
				if next++; next%2 == 0 { // the previous entry has two as well
					next -= 4
				}
			}
			if cursor = page.Next; cursor == "" {
				break
			}
			log = logOf(len(log) + 1)
		}
		if next != -2 {
			t.Errorf("%d at a time: the pages end before file %d", most, next)
		}
	}
	page, err := Files(t.Context(), output.Output{Log: logOf(20)}, "b", "", 100)
	if err != nil || len(page.Files) != 20 || page.Files[0].Path != "b/19" {
		t.Errorf("of one crawl: %v, %v", page, err)
	}
	for _, bad := range []string{"x", "0/", "-1/0-1", "0/0-99", "0/9-1"} {
		if _, err := Files(t.Context(), output.Output{Log: logOf(20)}, "", bad, 1); err == nil {
			t.Errorf("the cursor %q is taken", bad)
		}
	}
}

// An output in an unreadable format is reported, instead of being empty.
func TestFormatThatCannotBeReadIsReported(t *testing.T) {
	log := logOf(3)
	for i := range log {
		for j := range log[i].Files {
			log[i].Files[j].Path += ".csv"
		}
	}
	for crawl, want := range map[string]error{"a": ErrFormat, "": ErrFormat, "c": nil} {
		page, err := Read(t.Context(), output.Output{Log: log}, Choice{Crawl: crawl}, "", 10)
		if !errors.Is(err, want) || len(page.Records) > 0 {
			t.Errorf("crawl %q: %v, %v, want %v", crawl, page, err, want)
		}
	}
}
