package format

import (
	"io"

	"seine/internal/output"
)

// jsonLines is one JSON object per line, as it came.
type jsonLines struct {
	ext string
	packing
}

func (f jsonLines) Ext() string { return f.ext }

func (f jsonLines) NewEncoder(w io.Writer, _ output.Group) (Encoder, error) {
	p, err := f.open(w)
	return &lines{p}, err
}

// lines ends each record with a line feed.
type lines struct{ packer }

var lineFeed = []byte{'\n'}

func (l *lines) Append(r *Record) error {
	if _, err := l.Write(r.Data); err != nil {
		return err
	}
	if _, err := l.Write(lineFeed); err != nil {
		return err
	}
	return l.EndRecord()
}
