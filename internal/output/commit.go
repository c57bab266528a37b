package output

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
	"seine/pkg/messages"
)

// Commit is an entry of the commit log. It covers the messages of one partition that follow the
// previous entry, and names the files that hold their records.
type Commit struct {
	V           int       `json:"v"`
	Partition   int       `json:"partition"`
	Partitions  int       `json:"partitions,omitempty"` // number of partitions of the streams; 0 in the log of an export
	Created     time.Time `json:"created"`              // when the stream was created
	Incarnation int       `json:"life,omitempty"`       // non-zero only for a stream that was read again
	FirstSeq    uint64    `json:"first_seq"`
	LastSeq     uint64    `json:"last_seq"`
	Stored      time.Time `json:"stored"` // when the last message was stored in the stream
	Files       []File    `json:"files"`
	// Visits are the identities of the records, 16 bytes each: the first bytes of the SHA-256 of
	// each Nats-Msg-Id.
	Visits []byte `json:"visits"`
	// Replaced counts records whose object was replaced by another record's before it was
	// committed. Their identities are in Visits.
	Replaced int `json:"replaced,omitempty"`
	// Exported is set in the log of an export, which has no Visits: its records are those of the
	// entry of the same name in the source log.
	Exported *Filter `json:"exported,omitempty"`
	// Form is the layout of an export.
	Form *Form `json:"form,omitempty"`
	// Merged is set if the files hold the records of all entries from FirstSeq to LastSeq, which
	// this entry replaces: see Live. It has no Visits, since those entries stay in the log.
	Merged bool `json:"merged,omitempty"`
}

// Form is the layout of an export. A destination has one layout.
type Form struct {
	Format    string `json:"format,omitempty"`
	Path      string `json:"path,omitempty"` // template of folders
	Key       string `json:"key,omitempty"`  // template of object keys
	Encrypted bool   `json:"encrypted,omitempty"`
	CSVBOM    bool   `json:"csv_bom,omitempty"`
	CSVSafe   bool   `json:"csv_safe,omitempty"`
}

// Filter selects the exported records. The zero value selects all.
type Filter struct {
	Crawl string `json:"crawl,omitempty"`
	Kind  string `json:"kind,omitempty"`
}

// File is a committed chunk or object.
type File struct {
	Path     string         `json:"path"` // relative to the output, with slashes
	Crawl    string         `json:"crawl"`
	Kind     string         `json:"kind,omitempty"`  // kind of its records, if they are all of one
	Kinds    map[string]int `json:"kinds,omitempty"` // records by kind, if there are several
	Records  int            `json:"records"`
	Bytes    int64          `json:"bytes"`
	RawBytes int64          `json:"raw_bytes"` // before compression
	SHA256   string         `json:"sha256"`    // of the file, in hexadecimal
	// Columns are the columns of the file, in formats that have columns.
	Columns []Column `json:"columns,omitempty"`
	// IndexOf is the path of the file in the same commit that this one indexes. An index has no
	// records, and readers of records skip it.
	IndexOf string `json:"index_of,omitempty"`
}

// RecordsOf returns the number of records of a kind in the file.
func (f *File) RecordsOf(kind string) int {
	if f.Kind == kind {
		return f.Records
	}
	return f.Kinds[kind]
}

// Column is a column of a file.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Records returns the number of records in the commit.
func (c *Commit) Records() int {
	n := 0
	for _, f := range c.Files {
		n += f.Records
	}
	return n
}

// Name returns the name of the commit.
func (c *Commit) Name() Name {
	n := Name{Partition: c.Partition, StreamCreated: CreatedStamp(c.Created), Incarnation: c.Incarnation, First: c.FirstSeq}
	if c.Merged {
		n.Last = c.LastSeq
	}
	return n
}

// Name names a commit and its chunks. Names of a partition sort in the order of the commits.
type Name struct {
	Partition     int
	StreamCreated string // creation time of the stream, to the second
	Incarnation   int    // distinguishes incarnations that began in the same second
	First         uint64 // sequence of the first message
	Last          uint64 // sequence of the last message of a merge; otherwise 0
}

const epochLayout = "20060102T150405Z"

// CreatedStamp returns the StreamCreated of a stream created at this time.
func CreatedStamp(created time.Time) string { return created.UTC().Format(epochLayout) }

// String returns "part-003-20261121T010203Z-000000000042", followed by the last sequence for a
// merge.
func (n Name) String() string {
	life := ""
	if n.Incarnation > 0 {
		life = "." + strconv.Itoa(n.Incarnation)
	}
	last := ""
	if n.Last > 0 {
		last = fmt.Sprintf("-%012d", n.Last)
	}
	return fmt.Sprintf("part-%03d-%s%s-%012d%s", n.Partition, n.StreamCreated, life, n.First, last)
}

var namePattern = lazyregexp.New(`^part-(\d{3,5})-(\d{8}T\d{6}Z)(?:\.(\d{1,9}))?-(\d{12,19})(?:-(\d{12,19}))?\.([a-z0-9.]+)$`)

// ParseName parses the name of an entry or a chunk, and returns the extension after its dot.
func ParseName(s string) (n Name, ext string, ok bool) {
	m := namePattern().FindStringSubmatch(s)
	if m == nil {
		return n, "", false
	}
	n.Partition, _ = strconv.Atoi(m[1])
	n.StreamCreated = m[2]
	n.Incarnation, _ = strconv.Atoi(m[3])
	n.First, _ = strconv.ParseUint(m[4], 10, 64)
	n.Last, _ = strconv.ParseUint(m[5], 10, 64)
	return n, m[6], n.String()+"."+m[6] == s
}

// Compare orders names. A merge comes before the entries that it replaces.
func (n Name) Compare(o Name) int {
	return cmp.Or(cmp.Compare(n.Partition, o.Partition), cmp.Compare(n.StreamCreated, o.StreamCreated),
		cmp.Compare(n.Incarnation, o.Incarnation), cmp.Compare(n.First, o.First), cmp.Compare(o.Last, n.Last))
}

// stream returns the stream incarnation that n belongs to.
func (n Name) stream() streamKey { return streamKey{n.Partition, n.Incarnation, n.StreamCreated} }

// Covers reports whether n is a merge that replaces the entry o. Two merges of a stream are
// disjoint or nested.
func (n Name) Covers(o Name) bool {
	return n != o && n.stream() == o.stream() && n.First <= o.First && max(o.First, o.Last) <= n.Last
}

// Ref refers to an entry of the log that was not read yet.
type Ref struct {
	Name
	// Stamp changes when the entry does; it is made of, for example, the size and time.
	Stamp string
}

// SortRefs sorts entries in the order of their commits.
func SortRefs(refs []Ref) {
	slices.SortFunc(refs, func(a, b Ref) int { return a.Compare(b.Name) })
}

// Live returns the entries whose files count: those that no merge replaces. refs must be sorted.
func Live(refs []Ref) (live []Ref) {
	for _, r := range refs {
		if len(live) == 0 || !live[len(live)-1].Covers(r.Name) {
			live = append(live, r)
		}
	}
	return live
}

// Unmerged returns the entries that are not merges: those that owners of partitions committed.
func Unmerged(refs []Ref) []Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool { return r.Last > 0 })
}

// IdentitySize is the size of an identity, in bytes.
const IdentitySize = 16

// Encode returns the entry in its stored form.
func (c *Commit) Encode() ([]byte, error) {
	c.V = messages.Version
	if c.Files == nil {
		c.Files = []File{}
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	return append(text, '\n'), nil
}

// DecodeCommit decodes the entry named n and validates it.
func DecodeCommit(n Name, text []byte) (*Commit, error) {
	var c Commit
	if err := jsontext.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	switch {
	case c.V != messages.Version:
		return nil, fmt.Errorf("v is %d, this build reads %d: %w", c.V, messages.Version, messages.ErrVersion)
	case c.Name() != n:
		return nil, fmt.Errorf("it is entry %s", c.Name())
	case c.LastSeq < c.FirstSeq:
		return nil, fmt.Errorf("last_seq %d is before first_seq %d", c.LastSeq, c.FirstSeq)
	case c.Exported == nil && !c.Merged && len(c.Visits) != IdentitySize*(c.Records()+c.Replaced):
		return nil, fmt.Errorf("%d bytes of visits for %d records", len(c.Visits), c.Records())
	}
	for i := range c.Files {
		f := &c.Files[i]
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || len(f.SHA256) != 64 || !c.hasContent(f) {
			return nil, fmt.Errorf("file %q has no description", f.Path)
		}
	}
	return &c, nil
}

// hasContent reports whether f has records, or is an index of a file of c that has records.
func (c *Commit) hasContent(f *File) bool {
	if f.IndexOf == "" {
		return f.Records > 0
	}
	return f.Records == 0 && slices.ContainsFunc(c.Files, func(o File) bool { return o.Path == f.IndexOf && o.Records > 0 })
}
