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

// Ext is what the name of a chunk of rows ends in: that is what its content is
// read back as.
const Ext = "jsonl"

// Format is the format of chunks that are rows. No flag names it: a writer has it
// if its output is a database.
type Format struct {
	// Columns returns what the records of a crawl and a kind have, for the view of the
	// kind, by a spec that is no older than the revision. Without it there is none.
	Columns func(crawl, kind string, rev uint64) ([]format.Column, error)
}

// Ext implements format.Format.
func (Format) Ext() string { return Ext }

// NewEncoder implements format.Format. It takes only chunks of a Sink.
func (f Format) NewEncoder(w io.Writer, _ output.Group) (format.Encoder, error) {
	c, ok := w.(*Chunk)
	if !ok {
		return nil, errors.New("rows are for a database")
	}
	if c.from != FromResults { // events have columns
		c.columnsOf = f.Columns
	}
	return encoder{c}, nil
}

// encoder hands records to a chunk as they are: a row needs the identity, which no
// bytes of a chunk would have.
type encoder struct{ chunk *Chunk }

// Append implements format.Encoder.
func (e encoder) Append(r *format.Record) error { return e.chunk.add(r) }

// Close implements format.Encoder.
func (e encoder) Close() error { return nil }

// Chunk is some rows of one crawl and kind, in memory.
type Chunk struct {
	from  string
	name  output.Name
	group output.Group
	hook  output.Hook
	// columnsOf is Format.Columns, nil where there is no view.
	columnsOf func(crawl, kind string, rev uint64) ([]format.Column, error)
	rev       uint64 // the newest revision of the spec that a record was made by
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

// columns are those of its kind, by a spec that none of its records is newer than. They
// are asked for when it is finished: the spec may change while it grows.
func (c *Chunk) columns() ([]format.Column, error) {
	if c.columnsOf == nil || c.group.Kind == messages.KindVisit { // which has no items
		return nil, nil
	}
	columns, err := c.columnsOf(c.group.Crawl, c.group.Kind, c.rev)
	if err != nil {
		return nil, fmt.Errorf("find the columns of %s: %w", c.group.Kind, err)
	}
	return columns, nil
}

// Write implements output.Chunk. Bytes are no rows.
func (c *Chunk) Write([]byte) (int, error) {
	return 0, errors.New("a database takes records, not bytes: its format is rows.Format")
}

// Finish implements output.Chunk. Its rows are durable with the commit.
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
