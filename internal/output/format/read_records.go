package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"path"
	"strings"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
)

// ErrNoRecords is returned for a file that holds no records that can be read
// back, such as an index of others.
var ErrNoRecords = errors.New("it holds no records that can be read back")

// maxObject bounds an object that is read.
const maxObject = 64 << 20

// Records returns the records of a file, each as one line of JSON without its end,
// which is valid until the next. Its name tells how they are encoded, and whether
// they are encrypted. An error in the file is the last that comes.
func Records(name string, r io.Reader, ids ageencrypt.Identities) (iter.Seq2[[]byte, error], error) {
	if ageencrypt.Is(name) {
		in, err := ids.Open(r)
		if err != nil {
			return nil, err
		}
		r, name = in, ageencrypt.PlainName(name)
	}
	base := path.Base(name)
	if f := nameOf(base); !output.IsChunk(base) && !strings.HasPrefix(f, "jsonl") {
		return objectIn(r)
	}
	return Open(base, r)
}

// objectIn returns an object, whatever its name is, as one line.
func objectIn(r io.Reader) (iter.Seq2[[]byte, error], error) {
	text, err := io.ReadAll(io.LimitReader(r, maxObject+1))
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	text = bytes.TrimSpace(text)
	if len(text) > maxObject || len(text) == 0 || text[0] != '{' || json.Compact(&line, text) != nil {
		return nil, ErrNoRecords
	}
	return func(yield func([]byte, error) bool) { yield(line.Bytes(), nil) }, nil
}

// ErrDamaged is returned for a file that is not what was committed.
var ErrDamaged = errors.New("it differs from the committed file: seine verify lists all such files")

// ReadFile calls do with each record of a committed file, a line of JSON without
// its end. It returns an error that is ErrDamaged if the file is another than the
// log says, which it may find after do has had its records.
func ReadFile(o output.Output, f *output.File, ids ageencrypt.Identities, do func(line []byte) error) error {
	in, err := o.Open(*f)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	all := io.TeeReader(in, sum)
	n, err := EachRecord(f.Path, all, ids, do)
	if err == nil { // what a decoder leaves
		_, err = io.Copy(io.Discard, all)
	}
	switch {
	case err != nil:
		return err
	case n != f.Records || hex.EncodeToString(sum.Sum(nil)) != f.SHA256:
		return ErrDamaged
	}
	return nil
}

// EachRecord calls do with each record of a file, as Records returns them, and returns
// how many there were. It ends with the first error, of the file or of do.
func EachRecord(name string, r io.Reader, ids ageencrypt.Identities, do func(line []byte) error) (n int, err error) {
	records, err := Records(name, r, ids)
	if err != nil {
		return 0, err
	}
	for line, err := range records {
		if err != nil {
			return n, err
		}
		n++
		if err := do(line); err != nil {
			return n, err
		}
	}
	return n, nil
}
