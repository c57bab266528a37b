package format

import "io"

// Indexer is an Encoder whose chunk has an index, which is a file beside it.
type Indexer interface {
	// IndexExt is what the name of the index ends in.
	IndexExt() string
	// WriteIndex writes the index of the chunk, which was closed and is a file of
	// that name.
	WriteIndex(w io.Writer, file string) error
}

// Named is an Encoder that writes the name of its chunk. The name is given
// before the first record.
type Named interface{ SetName(file string) }

// Measured is an Encoder that knows how many bytes it has written, before
// compression. Of others, the payloads of the messages are counted.
type Measured interface{ Raw() int64 }

// RefusedError is what an Encoder returns for a record that it has written nothing of. If Err is marked by
// stages.PoisonError, the record goes to DEAD and the chunk continues without it; if not, the chunk is written again from its
// beginning, until Err passes.
type RefusedError struct{ Err error }

// Error says why.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *RefusedError) Unwrap() error { return e.Err }
