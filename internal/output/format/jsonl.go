package format

import (
	"io"

	"seine/internal/output"
)

// jsonLines is one JSON object per line, as received.
type jsonLines struct {
	ext string
	packing
}

func (l jsonLines) Ext() string { return l.ext }

func (l jsonLines) NewEncoder(w io.Writer, _ output.Group) (Encoder, error) {
	return &lines{l.open(w)}, nil
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
