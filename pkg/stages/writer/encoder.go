package writer

import "io"

// Format is how records become the bytes of a chunk. It is safe for concurrent
// use.
type Format interface {
	// Ext is what the names of chunks in this format end in, without a dot at
	// the start.
	Ext() string
	// NewEncoder begins a chunk on w. A chunk that is given up is dropped, not
	// closed: an encoder must not need Close to free what it holds.
	NewEncoder(w io.Writer) (Encoder, error)
}

// Encoder writes one chunk. One goroutine uses it at a time.
type Encoder interface {
	// Append adds a record, which CheckRecord has passed. It must not keep or
	// change the slice. After an error the chunk is given up.
	Append(record []byte) error
	// Close writes what makes the chunk complete. It does not close the writer
	// below. The encoder is not used after it.
	Close() error
}
