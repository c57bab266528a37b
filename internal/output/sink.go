package output

import (
	"errors"
	"io"
	"time"
)

// Sink is a destination for chunks, with the log of its commits. It is safe for concurrent use.
type Sink interface {
	// OpenPartition opens partition p for the caller. It admits one caller at a time, until Close
	// or the end of the process, and returns ErrHeld to others, or ErrInUse to a writer of another
	// stream. Or it admits several, and makes sure that of those that saw the same end of the log
	// only one can make the next commit. It removes the previous owner's unfinished data of the
	// stream incarnation that began at created, unless that owner can still commit it. It returns
	// the entries of the log for p, in order. They are durable.
	OpenPartition(p int, created time.Time) (Partition, []Ref, error)
}

// Partition is an open partition of a Sink. It is not safe for concurrent use.
type Partition interface {
	// Read returns an entry of the log, or an error that is ErrCorrupt.
	Read(Ref) (*Commit, error)
	// Create begins the chunk of a group in the commit named n.
	Create(n Name, g Group, ext string) (Chunk, error)
	// Commit adds c, whose chunks are finished, to the log. It is atomic: after an error the entry
	// exists or does not, and OpenPartition shows which. It never replaces an entry.
	Commit(c *Commit) (Ref, error)
	// Close releases the partition. Uncommitted chunks are lost.
	Close() error
}

// Merger is a destination whose committed chunks can be merged while its owners run.
type Merger interface {
	// OpenMerge opens partition p for merging. If locks end with their process, it admits one
	// caller at a time and returns ErrMerging to others. Otherwise, of the callers that merge the
	// same messages, only one can commit. It returns all entries of the log for p, in order,
	// including those that merges replace.
	OpenMerge(p int) (Partition, []Ref, error)
	// ListAll is Log.List including the entries that merges replace.
	ListAll(p int) ([]Ref, error)
	// Remove removes a chunk that no live entry names, if it exists.
	Remove(path string) error
}

// Chunk is a chunk in progress. It is not safe for concurrent use.
type Chunk interface {
	io.Writer
	// Finish makes the chunk durable and describes it. After an error the chunk may exist or not.
	// It never replaces another chunk.
	Finish() (File, error)
	// Abandon removes the chunk as far as possible, unless it was finished.
	Abandon()
}

// ObjectPartition is a Partition of a destination that also stores objects.
type ObjectPartition interface {
	Partition
	// Objects begins the objects of the commit named n.
	Objects(n Name) (Objects, error)
}

// Objects are the objects of one commit: files of one record each, at paths made from the records.
// It is not safe for concurrent use.
type Objects interface {
	// Put adds an object, whose content write writes. It replaces an earlier one with the same
	// path.
	Put(o Object, write func(io.Writer) error) error
	// Finish stores the objects durably at their paths, replacing existing ones, and returns the
	// stored files by path. It omits an object if its path has the object of a later message, from
	// another owner. After an error any of them may be stored.
	Finish() ([]File, error)
	// Abandon removes what Finish has not stored, as far as possible.
	Abandon()
}

// Object describes an object and its source.
type Object struct {
	Path     string // relative to the output, with slashes
	Crawl    string
	Kind     string
	RawBytes int64
	// Sequence is the message's. If two objects have one path and one partition, the later
	// message's stays.
	Sequence uint64
	// Type is the media type of the content, and URL the URL of its page, or "" if unknown or
	// secret. They are for destinations that store such metadata.
	Type, URL string
}

// Group identifies the records that share a chunk.
type Group struct {
	Crawl string
	Kind  string // of the records; empty if a chunk holds all kinds
	// Dir is the folder of the chunk, relative to the output, with slashes.
	Dir string
}

// Log is the part of a Sink that readers need. It is safe for concurrent use.
type Log interface {
	// List returns the entries of partition p, in order, or of all partitions if p is negative,
	// without merged ones. Before the first commit, the list is empty.
	List(p int) ([]Ref, error)
	// Read returns an entry, or an error that is ErrCorrupt.
	Read(Ref) (*Commit, error)
	// Open returns the content of a committed file; the caller closes it.
	Open(f File) (io.ReadCloser, error)
}

// Place is a Sink or a Log with an ID that is stored there. The ID is the same however the
// destination is reached or named, and moves with the output.
type Place interface {
	// PlaceID returns the ID of the destination, or "" if it has none. If it has none and give is
	// not empty, PlaceID stores give; if several callers do so, one succeeds.
	PlaceID(give string) (string, error)
}

// Lister is a destination that can list its files.
type Lister interface {
	// Files calls do with the path of every file except Seine's own, and with the path and error of
	// each folder that cannot be read. It returns the first error of do, or the error of listing at
	// all.
	Files(do func(path string, err error) error) error
}

// Names that all sinks of files share.
const (
	// CommitsDir is the folder of the logs, which has a folder for each writer.
	CommitsDir = "_commits"
	// EntryExt is the extension of entries.
	EntryExt = "json"
	// PlaceFile is the name of the file with the ID of the destination, in the folder of a log.
	PlaceFile = "place"
	// TempDir is the folder of objects in progress in a directory, and ManifestsDir that of
	// manifests. Each has a folder for every writer.
	TempDir      = "_tmp"
	ManifestsDir = "_manifests"
)

// Errors of a Sink.
var (
	// ErrHeld is returned while another process holds a partition: its lease has ended, and it has
	// not noticed yet.
	ErrHeld = errors.New("held by another process, whose lease has ended")
	// ErrInUse is returned while a process that reads another stream holds a partition: two crawls
	// can write to one directory only one after the other.
	ErrInUse = errors.New("another crawl is writing there")
	// ErrMerging is returned while another process merges chunks.
	ErrMerging = errors.New("another seine compact is running there")
	// ErrCorrupt is returned for an invalid entry of the commit log. Without the entry it is
	// unknown what was written, so a person must decide.
	ErrCorrupt = errors.New("commit log is damaged")
	// ErrExists is returned instead of replacing an entry or a chunk.
	ErrExists = errors.New("already exists: another process must have written it")
)
