package output

import (
	"errors"
	"io"
	"time"
)

// Sink is a place for chunks, and keeps the log of what was committed there.
// It is safe for concurrent use.
type Sink interface {
	// OpenPartition lets the caller into partition p. It lets in one at a time, and then
	// returns ErrHeld to all others, ErrInUse to a writer of another stream, until
	// Close or the end of the process; or it sees to it that of those who saw the same end of the log one alone can
	// commit what comes next. It removes what the owner before left unfinished of
	// the life of the stream that began at created, unless that owner can still
	// commit it, and returns the entries of the log for p, in order. What it
	// returns is durable.
	OpenPartition(p int, created time.Time) (Partition, []Ref, error)
}

// Partition is a partition of a Sink that was opened. One goroutine uses it.
type Partition interface {
	// Read returns an entry of the log, or an error that is ErrCorrupt.
	Read(Ref) (*Commit, error)
	// Create begins the chunk of a group that the commit named so will have.
	Create(n Name, g Group, ext string) (Chunk, error)
	// Commit adds c, whose chunks are finished, to the log. It is atomic: after
	// an error the entry is there or is not, and only OpenPartition tells. It never
	// replaces an entry.
	Commit(c *Commit) (Ref, error)
	// Close lets others in. Chunks that are not committed are lost.
	Close() error
}

// Merger is a place whose committed chunks can be merged while its owners are at work.
type Merger interface {
	// OpenMerge lets the caller merge in partition p, one at a time where a lock ends with its process, and else
	// returns ErrMerging; elsewhere, of those who merge the same messages one alone can commit it. It returns all
	// entries of the log for p, in order, with those that merges stand for.
	OpenMerge(p int) (Partition, []Ref, error)
	// ListAll is Log.List with the entries that merges stand for.
	ListAll(p int) ([]Ref, error)
	// Remove removes a chunk that no entry counts, if it is there.
	Remove(path string) error
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

// ObjectPartition is a Partition of a place that takes objects too.
type ObjectPartition interface {
	Partition
	// Objects begins the objects of the commit that is named so.
	Objects(n Name) (Objects, error)
}

// Objects are the objects of one commit: files of one record each, at paths
// that the records say. One goroutine uses it.
type Objects interface {
	// Put takes an object, which write writes. It replaces one of the same path
	// that was put before.
	Put(o Object, write func(io.Writer) error) error
	// Finish stores the objects durably at their paths, in place of what is
	// there, and says what it has stored, by path. It leaves out an object whose
	// path has that of a later message: another owner came before. After an error
	// any of them may be there.
	Finish() ([]File, error)
	// Abandon removes what Finish has not stored, as far as it can.
	Abandon()
}

// Object says where an object goes, and what it was made of.
type Object struct {
	Path     string // below that of the output, with slashes
	Crawl    string
	Kind     string
	RawBytes int64
	// Sequence is that of its message. Of two objects of one path and one
	// partition that of the later message stays.
	Sequence uint64
	// Type is the media type of the content, and URL that of its page, "" if it is unknown
	// or secret: for places that keep such beside the content.
	Type, URL string
}

// Group says which records are in one chunk.
type Group struct {
	Crawl string
	Kind  string // of the records; empty where a chunk holds all kinds
	// Dir is the folder of the chunk, below that of the output, with slashes.
	Dir string
}

// Log is what of a Sink its readers need. It is safe for concurrent use.
type Log interface {
	// List returns the entries of partition p, in order, or of all partitions
	// for a negative p, without merged ones. Before the first commit, the list is empty.
	List(p int) ([]Ref, error)
	// Read returns an entry, or an error that is ErrCorrupt.
	Read(Ref) (*Commit, error)
	// Open returns the content of a committed file; the caller closes it.
	Open(f File) (io.ReadCloser, error)
}

// Place is a Sink or a Log with an identity, a name that is
// stored there: it is the same from wherever the place is reached, and whatever that
// is called there, and it goes where the output is moved.
type Place interface {
	// PlaceID returns the name of the place, "" if it has none. One without a name
	// gets give, unless that is empty; of several who give it one, one succeeds.
	PlaceID(give string) (string, error)
}

// Lister is a place that can list its files.
type Lister interface {
	// Files calls do with the path of every file but those of Seine's own, and with
	// that of each folder that cannot be read and the reason. It returns the first
	// error of do, or why nothing can be listed at all.
	Files(do func(path string, err error) error) error
}

// What every sink of files shares.
const (
	// CommitsDir is the folder of the logs, each in one named like its writer.
	CommitsDir = "_commits"
	// EntryExt is what the names of entries end in.
	EntryExt = "json"
	// PlaceFile is the name of the file, in the folder of a log, that has the name of
	// the place.
	PlaceFile = "place"
	// TempDir is the folder of objects that are being made in a directory, and
	// ManifestsDir that of manifests; each has a folder for every writer.
	TempDir      = "_tmp"
	ManifestsDir = "_manifests"
)

// Errors of a Sink.
var (
	// ErrHeld is returned while another process is in a partition: its lease has
	// ended, and it has not noticed yet.
	ErrHeld = errors.New("held by another process, whose lease has ended")
	// ErrInUse is returned while a process is in a partition that reads another stream:
	// two crawls cannot write in one directory at a time, though one after the other.
	ErrInUse = errors.New("another crawl is writing there")
	// ErrMerging is returned while another process merges chunks.
	ErrMerging = errors.New("another seine compact is running there")
	// ErrCorrupt is returned for an entry of the commit log that cannot be
	// right. Without it, it is unknown what was written: a person must decide.
	ErrCorrupt = errors.New("commit log is damaged")
	// ErrExists is returned instead of replacing an entry or a chunk.
	ErrExists = errors.New("already there, another process must have written it")
)
