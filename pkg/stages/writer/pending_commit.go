package writer

import (
	"seine/internal/base/tracing"
	"seine/internal/streams/partition"
)

// pendingCommit holds the messages after the last commit.
type pendingCommit struct {
	*fileSet
	first    uint64                   // sequence of the first message
	last     *partition.ReaderMessage // nil if it must not be acknowledged
	messages int
	partial  bool // it has a part of a batch, and must not be committed
	waited   bool // it was small at the default age
	repeats  int
	bad      int
	ids      map[identity]struct{}
	visits   []byte // the same, in order
	traced   tracing.DeferredSpans
}

func newPendingCommit(files *fileSet) *pendingCommit {
	return &pendingCommit{fileSet: files, first: files.name.First, ids: make(map[identity]struct{})}
}
