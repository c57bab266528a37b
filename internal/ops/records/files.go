package records

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/output"
)

// File is a committed file of an output.
type File struct {
	Path    string         `json:"path" doc:"Below that of the output."`
	Crawl   string         `json:"crawl"`
	Kind    string         `json:"kind,omitempty" doc:"Of its records, if they are all of one."`
	Kinds   map[string]int `json:"kinds,omitempty" doc:"Records by kind, if they are of several."`
	Records int            `json:"records"`
	Bytes   int64          `json:"bytes"`
	SHA256  string         `json:"sha256"`
	Stored  time.Time      `json:"stored" doc:"When the last of what is in it was made."`
	Cursor  string         `json:"cursor" doc:"For GET …/records?file=, and for GET …/files/content."`
}

// FilePage is a page of the files of an output. Next is the cursor of older files, "" at the end. A
// page may be empty although others follow.
type FilePage struct {
	Files []File
	Next  string
}

// Files returns up to most files of a crawl, or of all crawls for "", the newest first, from the
// commit log.
func Files(ctx context.Context, o output.Output, crawl, cursor string, most int) (page FilePage, err error) {
	if _, database := o.Log.(output.Reader); database {
		return page, ErrDatabase
	}
	refs, err := o.List(-1)
	if err != nil {
		return page, fmt.Errorf("read commits: %w", err)
	}
	b := backwards{out: o, left: make(map[int][]output.Ref), heads: make(map[int]*output.Commit)}
	for _, ref := range refs {
		b.left[ref.Partition] = append(b.left[ref.Partition], ref)
	}
	if cursor != "" {
		if err := b.goTo(cursor); err != nil {
			return page, err
		}
	}
	until := time.Now().Add(pageTime)
	for range maxCommits {
		p, err := b.newest()
		if err != nil || p < 0 {
			return page, err
		}
		if b.take(p, crawl, most, &page) || ctx.Err() != nil || time.Now().After(until) {
			break
		}
	}
	page.Next = b.String()
	return page, ctx.Err()
}

// Open opens the file of a File's cursor. If the object was removed since, the error is
// fs.ErrNotExist.
func Open(o output.Output, cursor string) (f output.File, in io.ReadCloser, err error) {
	if _, database := o.Log.(output.Reader); database {
		return f, nil, ErrDatabase
	}
	at, err := parse(cursor)
	if err != nil {
		return f, nil, err
	}
	refs, err := refsFrom(o, at.entry)
	if err != nil {
		return f, nil, err
	}
	commit, err := o.Read(refs[0])
	if err != nil {
		return f, nil, fmt.Errorf("read commit %s: %w", refs[0], err)
	}
	if at.file >= len(commit.Files) {
		return f, nil, ErrCursor
	}
	f = commit.Files[at.file]
	in, err = o.Open(f)
	return f, in, err
}

// backwards reads a commit log of all partitions from the newest commit to the oldest.
type backwards struct {
	out   output.Output
	left  map[int][]output.Ref   // unread commits of each partition
	heads map[int]*output.Commit // the last of these
	told  int                    // files already returned of the newest head
}

// newest returns the partition with the newest unread commit, -1 if there is none.
func (b *backwards) newest() (partition int, err error) {
	partition = -1
	for _, p := range slices.Sorted(maps.Keys(b.left)) {
		refs := b.left[p]
		if len(refs) == 0 {
			continue
		}
		if b.heads[p] == nil {
			if b.heads[p], err = b.out.Read(refs[len(refs)-1]); err != nil {
				return -1, fmt.Errorf("read commit %s: %w", refs[len(refs)-1], err)
			}
		}
		if partition < 0 || b.heads[p].Stored.After(b.heads[partition].Stored) {
			partition = p
		}
	}
	return partition, nil
}

// take adds the files of the newest commit of a partition to a page, and reports whether the page
// is full.
func (b *backwards) take(p int, crawl string, most int, page *FilePage) (full bool) {
	c, refs := b.heads[p], b.left[p]
	for ; b.told < len(c.Files); b.told++ {
		f := &c.Files[b.told]
		if crawl != "" && f.Crawl != crawl {
			continue
		}
		if len(page.Files) >= most {
			return true
		}
		page.Files = append(page.Files, File{
			Path: f.Path, Crawl: f.Crawl, Kind: f.Kind, Kinds: f.Kinds, Records: f.Records, Bytes: f.Bytes, SHA256: f.SHA256, Stored: c.Stored,
			Cursor: position{entry: refs[len(refs)-1].String(), file: b.told}.String(),
		})
	}
	b.left[p], b.heads[p], b.told = refs[:len(refs)-1], nil, 0
	return false
}

// String returns the cursor: the number of returned files of the newest commit, and the number of
// unread commits of each partition. Later commits do not affect it. It is "" at the end.
func (b *backwards) String() string {
	var counts []string
	for _, p := range slices.Sorted(maps.Keys(b.left)) {
		if n := len(b.left[p]); n > 0 {
			counts = append(counts, fmt.Sprintf("%d-%d", p, n))
		}
	}
	if len(counts) == 0 {
		return ""
	}
	return strconv.Itoa(b.told) + "/" + strings.Join(counts, ".")
}

// goTo restores the position of a cursor.
func (b *backwards) goTo(cursor string) error {
	told, counts, _ := strings.Cut(cursor, "/")
	var err error
	if b.told, err = strconv.Atoi(told); err != nil || b.told < 0 {
		return ErrCursor
	}
	left := make(map[int][]output.Ref)
	for count := range strings.SplitSeq(counts, ".") {
		var p, n int
		if _, err := fmt.Sscanf(count, "%d-%d", &p, &n); err != nil || n < 1 || n > len(b.left[p]) {
			return ErrCursor
		}
		left[p] = b.left[p][:n]
	}
	b.left = left
	return nil
}
