package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
)

// ErrNoRecords is returned for a file without records that can be read back, such as an index.
var ErrNoRecords = errors.New("it holds no records that can be read back")

// maxObject bounds an object that is read.
const maxObject = 64 << 20

// objectIn calls do with the object in a file of any name, as one line.
func objectIn(r io.Reader, do func([]byte) error) error {
	text, err := io.ReadAll(io.LimitReader(r, maxObject+1))
	if err != nil {
		return err
	}
	var line bytes.Buffer
	text = bytes.TrimSpace(text)
	if len(text) > maxObject || len(text) == 0 || text[0] != '{' || json.Compact(&line, text) != nil {
		return ErrNoRecords
	}
	return do(line.Bytes())
}

// ErrDamaged is returned for a file that differs from the committed one.
var ErrDamaged = errors.New("it differs from the committed file: seine verify lists all such files")

// ReadFile calls do with each record of a committed file, as one line of JSON without its line end.
// It returns an error that is ErrDamaged if the file does not match the log, possibly after do has
// had its records.
func ReadFile(o output.Output, f *output.File, ids ageencrypt.Identities, do func(line []byte) error) error {
	in, err := o.Open(*f)
	if errors.Is(err, fs.ErrNotExist) && output.IsChunk(f.Path) {
		err = fmt.Errorf("%w (if you deleted the output of its crawl, choose another with --crawl; if seine compact has merged it, run this command again)", err)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	all := io.TeeReader(in, sum)
	n, err := EachRecordOf(f, all, ids, do)
	if err == nil { // bytes that the decoder did not read
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

// EachRecord calls do with each record of a file, as one line of JSON without its line end, and
// returns the number of records. The line is valid until the next call. The name of the file gives
// the encoding, and whether it is encrypted. EachRecord stops at the first error of the file or of
// do.
func EachRecord(name string, r io.Reader, ids ageencrypt.Identities, do func(line []byte) error) (n int, err error) {
	if ageencrypt.Is(name) {
		if r, err = ids.Open(r); err != nil {
			return 0, err
		}
		name = ageencrypt.PlainName(name)
	}
	counted := func(line []byte) error {
		n++
		return do(line)
	}
	base := path.Base(name)
	if form := NameOf(base); output.IsChunk(base) || strings.HasPrefix(form, "jsonl") || form == "parquet" {
		err = recordsIn(base, r, counted)
	} else {
		err = objectIn(r, counted)
	}
	return n, err
}
