package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"seine/internal/output/ageencrypt"
)

// ReadableExts returns the extensions of files that can be read back.
func ReadableExts() (all []string) {
	for _, e := range formats {
		if e.read != nil {
			all = append(all, "."+e.name)
		}
	}
	return all
}

// maxLine bounds a record that is read. It exceeds the maximum size of a message.
const maxLine = 128 << 20

// NameOf returns the format that a file's name ends in. name may also be the format itself. It
// returns "" if there is none.
func NameOf(name string) string {
	best := ""
	for _, e := range formats {
		if (name == e.name || strings.HasSuffix(name, "."+e.name)) && len(e.name) > len(best) {
			best = e.name
		}
	}
	return best
}

// IsArchive reports whether the name is that of a web archive (WARC) file or format, encrypted or
// not.
func IsArchive(name string) bool {
	return strings.HasPrefix(NameOf(ageencrypt.PlainName(name)), "warc")
}

// CheckReadable returns an error if a file's name says that it has no records that can be read
// back.
func CheckReadable(name string) error {
	switch f := NameOf(name); {
	case f == "":
		return fmt.Errorf("%w: its name must end in %s, which selects the format", ErrNoRecords, oneOf(ReadableExts()))
	case find(f).read == nil:
		return fmt.Errorf("%w: %s cannot be read back: it is for other programs; files of jsonl.zst can", ErrNoRecords, f)
	}
	return nil
}

// recordsIn calls do with each record of a file, as one line of JSON without its line end. The line
// is valid until the next call. The name of the file selects the format. It returns the first error
// of the file or of do.
func recordsIn(name string, r io.Reader, do func(record []byte) error) error {
	if err := CheckReadable(name); err != nil {
		return err
	}
	f := find(NameOf(name))
	in, closer, err := unpack(f.name, r)
	if err != nil {
		return cutAt(err)
	}
	defer closer()
	return f.read(in, do)
}

// unpack decompresses a file of a format.
func unpack(name string, r io.Reader) (in io.Reader, closer func(), err error) {
	switch {
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case strings.HasSuffix(name, ".gz"):
		in, err = gzip.NewReader(r)
		return in, func() {}, err
	}
	return r, func() {}, nil
}

// ErrCut is returned for a file that ends in the middle of a record, or of its compressed data.
var ErrCut = errors.New("it is truncated: it ends inside a record")

// cutAt returns ErrCut if err says that the input ended too early, and err otherwise.
func cutAt(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return ErrCut
	}
	return err
}

// linesIn reads lines. The last line may lack its line end if it is complete JSON, as in a file
// written by hand.
func linesIn(r io.Reader, do func([]byte) error) error {
	var rest []byte // after the last line end
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if n := bytes.IndexByte(data, '\n'); n >= 0 {
			return n + 1, bytes.TrimSuffix(data[:n], []byte("\r")), nil
		}
		if atEOF { // at EOF or an error; after an error, the rest is not a record
			rest = data
			return len(data), nil, nil
		}
		return 0, nil, nil
	})
	for s.Scan() {
		if err := do(s.Bytes()); err != nil {
			return err
		}
	}
	switch err := s.Err(); {
	case err != nil:
		return cutAt(err)
	case len(rest) > 0 && json.Valid(rest):
		return do(rest)
	case len(rest) > 0:
		return ErrCut
	}
	return nil
}

// elementsIn reads a JSON array with any line breaks.
func elementsIn(r io.Reader, do func([]byte) error) error {
	d := json.NewDecoder(r) //nolint:forbidigo // not decoded into a struct
	switch t, err := d.Token(); {
	case err != nil:
		return cutAt(err)
	case t != json.Delim('['):
		return errors.New("it is not an array of JSON")
	}
	var line bytes.Buffer
	for d.More() {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return cutAt(err)
		}
		one := []byte(element)
		if bytes.ContainsAny(one, "\n\r") {
			line.Reset()
			_ = json.Compact(&line, element) // it is valid
			one = line.Bytes()
		}
		if err := do(one); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return cutAt(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the array")
	}
	return nil
}
