package writer

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/output"
	"seine/internal/output/format"
)

// fileSet holds the files of one commit in progress. It is used by one goroutine.
type fileSet struct {
	form *fileLayout
	log  output.Partition
	name output.Name
	open *atomic.Int64 // chunks being written, of all partitions
	// created is when the stream was created, for the names of archives.
	created time.Time

	chunks  map[output.Group]*openChunk
	objects output.Objects // nil until the first object
	records int
	raw     int64 // bytes of the records, before compression
}

// openChunk is a chunk and its encoder.
type openChunk struct {
	output.Chunk
	enc     format.Encoder
	records int
	raw     int64
	kinds   map[string]int
	closed  func()
}

func newFileSet(f *fileLayout, log output.Partition, n output.Name, open *atomic.Int64, created time.Time) *fileSet {
	return &fileSet{form: f, log: log, name: n, open: open, created: created, chunks: make(map[output.Group]*openChunk)}
}

// noKeyError is the reason why a record cannot be an object. The record is at fault.
type noKeyError struct{ error }

// Unwrap returns the reason.
func (e *noKeyError) Unwrap() error { return e.error }

// add writes a record, made from the message with that sequence, to its file.
func (s *fileSet) add(g output.Group, rec *format.Record, sequence uint64) error {
	raw := int64(len(rec.Data)) + 1
	var err error
	if s.form.body != nil {
		err = s.put(output.Object{Crawl: g.Crawl, Kind: rec.Kind, RawBytes: raw, Sequence: sequence}, rec)
	} else {
		raw, err = s.append(g, rec)
	}
	if err != nil {
		return err
	}
	s.records++
	s.raw += raw
	return nil
}

// append writes a record to the chunk of its group, and returns the growth of the chunk before
// compression.
func (s *fileSet) append(g output.Group, rec *format.Record) (raw int64, err error) {
	c := s.chunks[g]
	if c == nil {
		if c, err = s.create(g); err != nil {
			return 0, err
		}
	}
	if err := c.enc.Append(rec); err != nil {
		return 0, err
	}
	raw = c.grown(rec)
	c.records++
	c.raw += raw
	c.kinds[rec.Kind]++
	return raw, nil
}

// grown returns the growth of the chunk by a record, before compression.
func (c *openChunk) grown(rec *format.Record) int64 {
	if m, ok := unwrapEncoder(c.enc).(format.Measured); ok {
		return m.Raw() - c.raw
	}
	return int64(len(rec.Data)) + 1
}

// unwrapEncoder returns the encoder inside an encryption.
func unwrapEncoder(enc format.Encoder) format.Encoder {
	if e, ok := enc.(interface{ Unwrap() format.Encoder }); ok {
		return e.Unwrap()
	}
	return enc
}

// dropEmpty discards a chunk that was begun for a record that was not added.
func (s *fileSet) dropEmpty(g output.Group) {
	if c := s.chunks[g]; c != nil && c.records == 0 {
		c.Abandon()
		c.closed()
		delete(s.chunks, g)
	}
}

func (s *fileSet) create(g output.Group) (*openChunk, error) {
	ext := s.form.ext(s.form.format.Ext(), g.Crawl, s.created)
	chunk, err := s.log.Create(s.name, g, ext)
	if err != nil {
		return nil, err
	}
	s.open.Add(1)
	c := &openChunk{Chunk: chunk, kinds: make(map[string]int), closed: func() { s.open.Add(-1) }}
	s.chunks[g] = c
	if c.enc, err = s.form.format.NewEncoder(chunk, g); err != nil {
		return nil, err
	}
	if n, ok := unwrapEncoder(c.enc).(format.Named); ok {
		n.SetName(s.name.String() + "." + ext)
	}
	return c, nil
}

// put stores a record as an object.
func (s *fileSet) put(o output.Object, rec *format.Record) error {
	path, err := s.form.key.Path(&output.KeyRecord{
		ID: rec.ID, Crawl: o.Crawl, Kind: o.Kind, Partition: s.name.Partition, Stored: rec.Stored, Data: knownOf(rec),
	})
	if err != nil {
		return &noKeyError{err}
	}
	if s.objects == nil {
		keyed, ok := s.log.(output.ObjectPartition)
		if !ok {
			return errors.New("this output does not support objects: use a directory or S3")
		}
		if s.objects, err = keyed.Objects(s.name); err != nil {
			return err
		}
	}
	o.Path, o.Type = path+s.form.body.Ext(), s.form.body.Type(rec)
	if !s.form.sealed {
		o.URL = urlOf(knownOf(rec))
	}
	err = s.objects.Put(o, func(w io.Writer) error { return s.form.body.Write(w, rec) })
	if unfit, ok := errors.AsType[*format.UnfitError](err); ok {
		return &noKeyError{unfit}
	}
	return err
}

// urlOf returns the url field of a record, "" if it has none.
func urlOf(data []byte) string {
	var r struct {
		URL string `json:"url"`
	}
	_ = jsontext.Unmarshal(data, &r) // a record without such a text has no URL
	return r.URL
}

// finish makes every file durable.
func (s *fileSet) finish() ([]output.File, error) {
	if s.objects != nil {
		return s.objects.Finish()
	}
	files := make([]output.File, 0, len(s.chunks))
	byDir := func(a, b output.Group) int { return strings.Compare(a.Dir, b.Dir) }
	for _, g := range slices.SortedFunc(maps.Keys(s.chunks), byDir) {
		c := s.chunks[g]
		if err := c.enc.Close(); err != nil {
			return nil, err
		}
		f, err := c.Finish()
		if err != nil {
			return nil, err
		}
		f.Records, f.RawBytes = c.records, c.raw
		if t, ok := c.enc.(format.Tabular); ok { // not inside an encryption: the log is not encrypted
			f.Columns = t.Columns()
		}
		for f.Kind = range c.kinds { // the only one
		}
		if len(c.kinds) > 1 {
			f.Kind, f.Kinds = "", c.kinds
		}
		files = append(files, f)
		if x, ok := c.enc.(format.Indexer); ok {
			i, err := s.finishIndex(x, g, f)
			if err != nil {
				return nil, err
			}
			files = append(files, i)
		}
	}
	return files, nil
}

// fill finishes the files, and sets them in c.
func (s *fileSet) fill(c *output.Commit) (err error) {
	if c.Files, err = s.finish(); err != nil {
		return fmt.Errorf("commit %s: %w", c.Name(), err)
	}
	c.Replaced = s.records - c.Records()
	return nil
}

// abandon removes unfinished files, and releases the others.
func (s *fileSet) abandon() {
	for _, c := range s.chunks {
		c.Abandon()
		c.closed()
	}
	clear(s.chunks)
	if s.objects != nil {
		s.objects.Abandon()
		s.objects = nil
	}
}
