package format

import "io"

// Indexer is an Encoder whose chunk has an index, which is a separate file.
type Indexer interface {
	// IndexExt is the extension of the index.
	IndexExt() string
	// WriteIndex writes the index of the closed chunk, whose file name is file.
	WriteIndex(w io.Writer, file string) error
}

// Named is an Encoder that writes the name of its chunk. The name is set before the first record.
type Named interface{ SetName(file string) }

// Measured is an Encoder that knows the number of bytes it has written, before compression. For
// other encoders, the payloads of the messages are counted.
type Measured interface{ Raw() int64 }

// RefusedError is returned by an Encoder for a record of which it has written nothing. If Err is
// marked by stages.PoisonError, the record goes to DEAD and the chunk continues without it.
// Otherwise the chunk is written again from its beginning until Err no longer occurs.
type RefusedError struct{ Err error }

// Error returns the message of Err.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }
