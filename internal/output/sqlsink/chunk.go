package sqlsink

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/pkg/messages"
)

// Ext is the extension of a chunk of rows, as which its content is read back.
const Ext = "jsonl"

// Format is the format of chunks of rows. No flag names it: a writer uses it if its output is a
// database.
type Format struct {
	// Columns returns the columns of the records of a crawl and a kind, for the view of the kind,
	// from a spec that is at least of revision rev. If it is nil, no views are made.
	Columns func(crawl, kind string, rev uint64) ([]format.Column, error)
}

// Ext implements format.Format.
func (Format) Ext() string { return Ext }

// NewEncoder implements format.Format. It accepts only chunks of a Sink.
func (f Format) NewEncoder(w io.Writer, _ output.Group) (format.Encoder, error) {
	c, ok := w.(*Chunk)
	if !ok {
		return nil, errors.New("rows are for a database")
	}
	if c.from != FromResults { // events have fixed columns
		c.columnsOf = f.Columns
	}
	return encoder{c}, nil
}

// encoder passes records to a chunk unencoded: a row needs the record's identity, which encoded
// bytes would lack.
type encoder struct{ chunk *Chunk }

// Append implements format.Encoder.
func (e encoder) Append(r *format.Record) error { return e.chunk.add(r) }

// Close implements format.Encoder.
func (e encoder) Close() error { return nil }

// Chunk is a set of rows of one crawl and kind, in memory.
type Chunk struct {
	from  string
	name  output.Name
	group output.Group
	hook  output.Hook
	// columnsOf is Format.Columns, or nil without a view.
	columnsOf func(crawl, kind string, rev uint64) ([]format.Column, error)
	rev       uint64 // newest revision of the spec among the records
	rows      []*Row
	sum       hash.Hash
	size      int64
	done      func(*Chunk)
}

func (c *Chunk) add(r *format.Record) error {
	if err := c.hook.At(output.StepWrite); err != nil {
		return err
	}
	c.sum.Write(r.Data)
	c.sum.Write([]byte{'\n'})
	c.size += int64(len(r.Data)) + 1
	c.rows = append(c.rows, newRow(c.from, c.group.Crawl, r))
	c.rev = max(c.rev, messages.SpecRevision(r.Header))
	return nil
}

// columns returns the columns of the chunk's kind, from a spec that is not older than any of its
// records. It is called when the chunk is finished, since the spec may change while the chunk
// grows.
func (c *Chunk) columns() ([]format.Column, error) {
	if c.columnsOf == nil || c.group.Kind == messages.KindVisit { // visits have no items
		return nil, nil
	}
	columns, err := c.columnsOf(c.group.Crawl, c.group.Kind, c.rev)
	if err != nil {
		return nil, fmt.Errorf("find the columns of %s: %w", c.group.Kind, err)
	}
	return columns, nil
}

// Write implements output.Chunk. It fails, since bytes are not rows.
func (c *Chunk) Write([]byte) (int, error) {
	return 0, errors.New("a database takes records, not bytes: its format is sqlsink.Format")
}

// Finish implements output.Chunk. The rows become durable with the commit.
func (c *Chunk) Finish() (output.File, error) {
	c.done(c)
	f := output.File{
		Path: path.Join(c.group.Dir, c.name.String()+"."+Ext), Crawl: c.group.Crawl, Kind: c.group.Kind,
		Bytes: c.size, SHA256: hex.EncodeToString(c.sum.Sum(nil)),
	}
	return f, c.hook.At(output.StepFinished)
}

// Abandon implements output.Chunk.
func (c *Chunk) Abandon() { c.rows = nil }

func newChunk(from string, n output.Name, g output.Group, h output.Hook, done func(*Chunk)) *Chunk {
	return &Chunk{from: from, name: n, group: g, hook: h, sum: sha256.New(), done: done}
}

var (
	_ format.Format = Format{}
	_ output.Chunk  = (*Chunk)(nil)
)
