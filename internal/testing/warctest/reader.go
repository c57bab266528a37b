// Package warctest reads WARC files in tests. It is strict: anything that the specification does
// not allow is an error.
package warctest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"seine/internal/output/warc"
)

// Record is a record of a WARC file.
type Record struct {
	Fields textproto.MIMEHeader // in the canonical spelling of net/textproto
	Block  []byte
}

// Get returns the value of a field, or "".
func (r *Record) Get(name string) string { return r.Fields.Get(name) }

// Type returns the type of the record.
func (r *Record) Type() string { return r.Get("WARC-Type") }

// Open returns the content of a file, decompressed by the extension of its name.
func Open(name string, f io.Reader) (io.Reader, error) {
	switch filepath.Ext(name) {
	case ".gz":
		return gzip.NewReader(f)
	case ".zst":
		return zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	}
	return f, nil
}

// All returns all records of a file, after checking each.
func All(name string, f io.Reader) ([]*Record, error) {
	in, err := Open(name, f)
	if err != nil {
		return nil, err
	}
	var all []*Record
	b := bufio.NewReader(in)
	for {
		r, err := Read(b)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			return all, fmt.Errorf("%s, record %d: %w", name, len(all), err)
		}
		all = append(all, r)
	}
}

// Read reads a record. It returns io.EOF only at the end of the file.
func Read(b *bufio.Reader) (*Record, error) {
	if _, err := b.Peek(1); err != nil {
		return nil, err
	}
	r := &Record{Fields: make(textproto.MIMEHeader)}
	for n := 0; ; n++ {
		l, err := crlf(b)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			if l != "WARC/1.1" {
				return nil, fmt.Errorf("it begins with %.40q", l)
			}
			continue
		}
		if l == "" {
			break
		}
		name, value, ok := strings.Cut(l, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("%.40q is not a field", l)
		}
		r.Fields.Add(name, strings.TrimSpace(value))
	}
	size, err := strconv.ParseInt(r.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return nil, fmt.Errorf("Content-Length %.40q", r.Get("Content-Length"))
	}
	var block bytes.Buffer
	if n, err := io.CopyN(&block, b, size); err != nil {
		return nil, fmt.Errorf("block of %d bytes ends after %d", size, n)
	}
	r.Block = block.Bytes()
	for range 2 {
		if l, err := crlf(b); err != nil || l != "" {
			return nil, errors.Join(fmt.Errorf("after the block comes %.40q", l), notEOF(err))
		}
	}
	return r, nil
}

// notEOF replaces io.EOF where the end of the file is an error.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func crlf(b *bufio.Reader) (string, error) {
	l, err := b.ReadString('\n')
	if err != nil || !strings.HasSuffix(l, "\r\n") {
		return l, fmt.Errorf("%.40q is not ended by CRLF", l)
	}
	return l[:len(l)-2], nil
}

// repeatable are the fields that a record may repeat.
var repeatable = []string{"Warc-Concurrent-To", "Warc-Protocol"}

// Check checks the fields that every record must have (section 5.1), and its digests.
func (r *Record) Check() error {
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"} {
		if r.Get(name) == "" {
			return fmt.Errorf("a record without %s", name)
		}
	}
	for name, values := range r.Fields {
		if len(values) > 1 && !slices.Contains(repeatable, name) {
			return fmt.Errorf("%s is there %d times", name, len(values))
		}
	}
	if _, err := time.Parse(time.RFC3339, r.Get("WARC-Date")); err != nil {
		return err
	}
	if id := r.Get("WARC-Record-ID"); !strings.HasPrefix(id, "<urn:uuid:") || len(id) != len("<urn:uuid:>")+36 {
		return fmt.Errorf("identifier %s", id)
	}
	if (r.Get("WARC-Target-URI") == "") != (r.Type() == warc.TypeInfo) {
		return fmt.Errorf("a %s of %q", r.Type(), r.Get("WARC-Target-URI"))
	}
	if got := warc.Digest(r.Block); got != r.Get("WARC-Block-Digest") {
		return fmt.Errorf("WARC-Block-Digest %s of a block with %s", r.Get("WARC-Block-Digest"), got)
	}
	want := r.Get("WARC-Payload-Digest")
	if got := warc.Digest(r.Payload()); want != "" && r.Type() != warc.TypeRevisit && got != want {
		return fmt.Errorf("WARC-Payload-Digest %s of a payload with %s", want, got)
	}
	return nil
}

// Head returns the head of the HTTP message in the block, with the empty line that ends it. It
// returns nil if the block is not an HTTP message.
func (r *Record) Head() []byte {
	if !strings.HasPrefix(r.Get("Content-Type"), "application/http") {
		return nil
	}
	if i := bytes.Index(r.Block, []byte("\r\n\r\n")); i >= 0 {
		return r.Block[:i+4]
	}
	return r.Block
}

// Payload returns the data after the head.
func (r *Record) Payload() []byte { return r.Block[len(r.Head()):] }
