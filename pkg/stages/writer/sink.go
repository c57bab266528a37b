package writer

import (
	"errors"
	"io"
	"time"
)

// Sink is a place for chunks, and keeps the log of what was committed there.
// It is safe for concurrent use.
type Sink interface {
	// Open lets the caller into partition p, alone: until Close or the end of
	// the process, Open returns ErrHeld to everyone else. It removes what the
	// owner before left unfinished of the life of the stream that began at
	// created, and returns the entries of the log for p, in order. What it
	// returns is durable.
	Open(p int, created time.Time) (Partition, []Ref, error)
}

// Partition is a partition of a Sink that was opened. One goroutine uses it.
type Partition interface {
	// Read returns an entry of the log, or an error that is ErrCorrupt.
	Read(Ref) (*Commit, error)
	// Create begins the chunk of a crawl that the commit named so will have.
	Create(n Name, crawl, ext string) (Chunk, error)
	// Commit adds c, whose chunks are finished, to the log. It is atomic: after
	// an error the entry is there or is not, and only Open tells. It never
	// replaces an entry.
	Commit(c *Commit) (Ref, error)
	// Close lets others in. Chunks that are not committed are lost.
	Close() error
}

// Chunk is a chunk that is being written. One goroutine uses it.
type Chunk interface {
	io.Writer
	// Finish makes the chunk durable, and says where it is and what is in it.
	// After an error the chunk may be there or not; it never replaces another.
	Finish() (File, error)
	// Abandon removes the chunk, as far as it can, unless it was finished.
	Abandon()
}

// Errors of a Sink.
var (
	// ErrHeld is returned while another process is in a partition: its lease has
	// ended, and it has not noticed yet.
	ErrHeld = errors.New("held by another process, whose lease has ended")
	// ErrCorrupt is returned for an entry of the commit log that cannot be
	// right. Without it nobody knows what was written: a person must decide.
	ErrCorrupt = errors.New("commit log is damaged")
	// ErrTaken is returned instead of replacing an entry or a chunk.
	ErrTaken = errors.New("already there, another process must have written it")
)
