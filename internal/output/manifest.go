package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/output/ageencrypt"
	"seine/pkg/messages"
)

// Manifest lists what one writer has committed of one crawl. It is derived from the commit log, for
// readers of the output.
type Manifest struct {
	V         int       `json:"v"`
	Crawl     string    `json:"crawl"`
	Writer    string    `json:"writer"`
	Generated time.Time `json:"generated"`
	// Complete is set if the crawl has ended and all its records are committed.
	Complete bool `json:"complete"`
	// Formats are the extensions of the files, "object" for objects.
	Formats   []string         `json:"formats"`
	Encrypted bool             `json:"encrypted"`
	Records   int64            `json:"records"`
	Kinds     map[string]int64 `json:"kinds"` // records by kind
	FileCount int64            `json:"file_count"`
	Bytes     int64            `json:"bytes"`
	RawBytes  int64            `json:"raw_bytes"`
	// Schema has the columns of each kind, from the last file of that kind, for formats with
	// columns.
	Schema map[string][]Column `json:"schema,omitempty"`
	// Streams are the parts of the stream that the files were made from.
	Streams []ManifestStream `json:"streams"`
	// Files are in the order of their commits within each partition. If a path occurs again, an
	// object was replaced, and the last one counts.
	Files []ManifestFile `json:"files"`
}

// ManifestStream is one partition of one incarnation of the stream.
type ManifestStream struct {
	Partition int              `json:"partition"`
	Created   time.Time        `json:"created"`
	Life      int              `json:"life,omitempty"`
	FirstSeq  uint64           `json:"first_seq"`
	LastSeq   uint64           `json:"last_seq"`
	Commits   []ManifestCommit `json:"commits"`
}

// ManifestCommit is an entry of the log with files of the crawl.
type ManifestCommit struct {
	Name     string    `json:"name"`
	FirstSeq uint64    `json:"first_seq"`
	LastSeq  uint64    `json:"last_seq"`
	Stored   time.Time `json:"stored"`
	Records  int       `json:"records"`
}

// ManifestFile is a file of the manifest.
type ManifestFile struct {
	File
	Commit string `json:"commit"` // name of its entry
}

// ManifestPath returns the path of a manifest, relative to the output.
func ManifestPath(writer, crawl string) string {
	return ManifestsDir + "/" + writer + "/" + crawl + ".json"
}

// ManifestStore is a destination that stores manifests.
type ManifestStore interface {
	// PutManifest stores a file atomically and replaces an existing one.
	PutManifest(path string, content io.Reader) error
	// GetManifest opens a file. The error is os.ErrNotExist if it is missing.
	GetManifest(path string) (io.ReadCloser, error)
}

// Manifests builds the manifests of one writer. It reads each entry of the log once and keeps some
// hundred bytes of it in memory; the list of files is in an unnamed file. It is not safe for
// concurrent use.
type Manifests struct {
	log    Log
	writer string
	seen   map[Name]string // stamp of each entry
	crawls map[string]*crawlManifest
	spool  *os.File
	size   int64
	// pending is the number of bytes in memory that are not in the spool yet.
	pending int
	// Each, if set, is called for each file of an entry that is read.
	Each func(*File)
}

// crawlManifest is a manifest whose files are in parts of the spool.
type crawlManifest struct {
	Manifest
	formats map[string]bool
	streams map[streamKey]*ManifestStream
	parts   [][2]int64   // offsets
	pending bytes.Buffer // files that are not in the spool yet
}

type streamKey struct {
	partition, life int
	epoch           string
}

// NewManifests returns a Manifests that has read nothing. It keeps its spool in the directory temp.
// The caller must close it.
func NewManifests(log Log, writer, temp string) (*Manifests, error) {
	f, err := os.CreateTemp(temp, "manifest-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("make manifests: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make manifests: %w", err), f.Close())
	}
	m := &Manifests{log: log, writer: writer, spool: f}
	m.forget()
	return m, nil
}

// Close closes the spool.
func (m *Manifests) Close() error { return m.spool.Close() }

func (m *Manifests) forget() {
	m.seen, m.crawls, m.size, m.pending = make(map[Name]string), make(map[string]*crawlManifest), 0, 0
}

// Update reads new entries until stop returns an error, which it then returns. Entries that were
// read stay known. After an error of the log or of the spool's disk, another Update continues;
// until one succeeds, no manifest may be written.
func (m *Manifests) Update(stop func() error) error {
	refs, err := m.log.List(-1)
	if err != nil {
		return fmt.Errorf("read commits: %w", err)
	}
	same := 0
	for _, r := range refs {
		if m.seen[r.Name] == r.Stamp {
			same++
		}
	}
	if same < len(m.seen) { // an entry was changed or removed
		m.forget()
	}
	for _, r := range refs {
		if _, ok := m.seen[r.Name]; ok {
			continue
		}
		if err := stop(); err != nil {
			return err
		}
		if m.pending > maxPending {
			if err := m.flush(); err != nil {
				return err
			}
		}
		c, err := m.log.Read(r)
		if err != nil {
			return err
		}
		if err := m.add(c); err != nil {
			return err
		}
		m.seen[r.Name] = r.Stamp
	}
	return m.flush()
}

// maxPending bounds the manifests' bytes in memory, besides one entry of the log.
const maxPending = 256 << 10

// add adds a complete entry or, if it returns an error, no part of it.
func (m *Manifests) add(c *Commit) error {
	name := c.Name().String()
	lines := make([][]byte, len(c.Files))
	for i, f := range c.Files {
		f.Columns = nil // the schema has them
		var err error
		if lines[i], err = json.Marshal(ManifestFile{f, name}); err != nil {
			return fmt.Errorf("encode manifest: %w", err)
		}
	}
	records := make(map[string]int)
	for i := range c.Files {
		f := &c.Files[i]
		records[f.Crawl] += f.Records
		cm := m.crawl(f.Crawl)
		cm.count(f)
		if m.Each != nil {
			m.Each(f)
		}
		cm.pending.WriteString(",\n    ")
		cm.pending.Write(lines[i])
		m.pending += len(lines[i])
	}
	for crawl, n := range records {
		m.crawl(crawl).commit(c, n)
	}
	return nil
}

func (m *Manifests) crawl(name string) *crawlManifest {
	cm := m.crawls[name]
	if cm == nil {
		cm = &crawlManifest{formats: make(map[string]bool), streams: make(map[streamKey]*ManifestStream)}
		cm.V, cm.Crawl, cm.Writer, cm.Kinds = messages.Version, name, m.writer, make(map[string]int64)
		m.crawls[name] = cm
	}
	return cm
}

func (cm *crawlManifest) count(f *File) {
	cm.FileCount++
	cm.Records += int64(f.Records)
	cm.Bytes += f.Bytes
	cm.RawBytes += f.RawBytes
	for kind, n := range f.Kinds {
		cm.Kinds[kind] += int64(n)
	}
	if f.Kind != "" {
		cm.Kinds[f.Kind] += int64(f.Records)
	}
	if f.Columns != nil {
		if cm.Schema == nil {
			cm.Schema = make(map[string][]Column)
		}
		cm.Schema[f.Kind] = f.Columns
	}
	cm.Encrypted = cm.Encrypted || ageencrypt.Is(f.Path)
	cm.formats[formatOf(f.Path)] = true
}

// formatOf returns the extension of a chunk, without the token that its name may have in S3.
func formatOf(path string) string {
	_, ext, ok := ParseName(path[strings.LastIndexByte(path, '/')+1:])
	if !ok {
		return "object"
	}
	if first, rest, more := strings.Cut(ext, "."); more && len(first) == 16 {
		ext = rest
	}
	return ageencrypt.PlainName(ext)
}

func (cm *crawlManifest) commit(c *Commit, records int) {
	key := streamKey{c.Partition, c.Incarnation, CreatedStamp(c.Created)}
	s := cm.streams[key]
	if s == nil {
		s = &ManifestStream{Partition: c.Partition, Created: c.Created, Life: c.Incarnation, FirstSeq: c.FirstSeq}
		cm.streams[key] = s
	}
	s.LastSeq = c.LastSeq
	s.Commits = append(s.Commits, ManifestCommit{c.Name().String(), c.FirstSeq, c.LastSeq, c.Stored, records})
}

// flush moves the pending bytes to the spool.
func (m *Manifests) flush() error {
	for _, cm := range m.crawls {
		if err := m.spill(cm); err != nil {
			return err
		}
	}
	m.pending = 0
	return nil
}

func (m *Manifests) spill(cm *crawlManifest) error {
	n := int64(cm.pending.Len())
	if n == 0 {
		return nil
	}
	if _, err := m.spool.WriteAt(cm.pending.Bytes(), m.size); err != nil {
		return fmt.Errorf("make manifest: %w", err)
	}
	if last := len(cm.parts) - 1; last >= 0 && cm.parts[last][1] == m.size {
		cm.parts[last][1] += n
	} else {
		cm.parts = append(cm.parts, [2]int64{m.size, m.size + n})
	}
	m.size += n
	cm.pending.Reset()
	return nil
}

// Crawls returns the crawls that have files, in order.
func (m *Manifests) Crawls() []string { return slices.Sorted(maps.Keys(m.crawls)) }

// Head returns the manifest of a crawl without its files, as of the last Update, and whether there
// is one.
func (m *Manifests) Head(crawl string) (Manifest, bool) {
	cm, ok := m.crawls[crawl]
	if !ok {
		return Manifest{}, false
	}
	head := cm.Manifest
	head.Generated = time.Now().UTC().Truncate(time.Second)
	head.Formats = slices.Sorted(maps.Keys(cm.formats))
	for _, s := range cm.streams {
		head.Streams = append(head.Streams, *s)
	}
	slices.SortFunc(head.Streams, func(a, b ManifestStream) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), a.Created.Compare(b.Created), cmp.Compare(a.Life, b.Life))
	})
	return head, true
}

// Encode returns the manifest with this head.
func (m *Manifests) Encode(head Manifest) (io.Reader, error) {
	head.Files = []ManifestFile{}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	// The files go between the last two brackets.
	text = bytes.TrimSuffix(text, []byte("]\n}"))
	parts := []io.Reader{bytes.NewReader(text)}
	for i, p := range m.crawls[head.Crawl].parts {
		if i == 0 {
			p[0]++ // skip the first comma
		}
		parts = append(parts, io.NewSectionReader(m.spool, p[0], p[1]-p[0]))
	}
	return io.MultiReader(append(parts, strings.NewReader("\n  ]\n}\n"))...), nil
}

// Store builds and stores the manifest of a crawl. A manifest that was complete stays complete,
// unless something was committed since.
func (m *Manifests) Store(to ManifestStore, crawl string, complete bool) error {
	head, ok := m.Head(crawl)
	if !ok {
		return nil
	}
	head.Complete = complete || m.WasComplete(to, head)
	text, err := m.Encode(head)
	if err != nil {
		return err
	}
	if err := to.PutManifest(ManifestPath(m.writer, crawl), text); err != nil {
		return fmt.Errorf("store manifest: %w", err)
	}
	return nil
}

// WasComplete reports whether the stored manifest is complete and has the commits of head.
func (m *Manifests) WasComplete(in ManifestStore, head Manifest) bool {
	have, ok := m.stored(in, head.Crawl)
	return ok && have.Complete && have.hasCommitsOf(&head)
}

// Outdated returns the crawls whose stored manifest does not match the commits and files that
// Update has read.
func (m *Manifests) Outdated(in ManifestStore) []string {
	return slices.DeleteFunc(m.Crawls(), func(crawl string) bool {
		head, _ := m.Head(crawl)
		have, ok := m.stored(in, crawl)
		return ok && have.FileCount == head.FileCount && have.hasCommitsOf(&head)
	})
}

// stored returns the stored manifest without its files, of which there may be millions.
func (m *Manifests) stored(in ManifestStore, crawl string) (*Manifest, bool) {
	return storedHead(in, m.writer, crawl)
}

func storedHead(in ManifestStore, writer, crawl string) (*Manifest, bool) {
	f, err := in.GetManifest(ManifestPath(writer, crawl))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	head, err := readHead(f)
	return head, err == nil
}

// readHead reads a manifest up to its files, which are last.
func readHead(r io.Reader) (*Manifest, error) {
	members := make(map[string]json.RawMessage)
	d := json.NewDecoder(r) //nolint:forbidigo // not decoded into a struct
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok || name == "files" {
			break
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members[name] = value
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	var head Manifest
	return &head, jsontext.Unmarshal(text, &head)
}

func (m *Manifest) hasCommitsOf(head *Manifest) bool {
	return m.Records == head.Records && slices.EqualFunc(m.Streams, head.Streams, func(a, b ManifestStream) bool {
		return a.Partition == b.Partition && a.Created.Equal(b.Created) && a.Life == b.Life && a.LastSeq == b.LastSeq
	})
}

// ReadManifest reads a manifest.
func ReadManifest(r io.Reader) (*Manifest, error) {
	var m Manifest
	text, err := io.ReadAll(r)
	if err == nil {
		err = jsontext.Unmarshal(text, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	switch {
	case m.V != messages.Version:
		return nil, fmt.Errorf("read manifest: v is %d, this build reads %d: %w", m.V, messages.Version, messages.ErrVersion)
	case m.Crawl == "" || int64(len(m.Files)) != m.FileCount:
		return nil, fmt.Errorf("read manifest: not a manifest of Seine, or truncated: it lists %d files instead of %d", len(m.Files), m.FileCount)
	}
	return &m, nil
}
