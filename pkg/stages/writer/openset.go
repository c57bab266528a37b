package writer

import (
	"seine/internal/tracing"
	"seine/pkg/stages"
)

// openSet is what came after the last commit.
type openSet struct {
	*fileSet
	first    uint64              // sequence of the first message
	last     *stages.FeedMessage // nil where it must not be acknowledged
	messages int
	repeats  int
	bad      int
	ids      map[identity]struct{}
	visits   []byte // the same, in order
	traced   tracing.Later
}

func newOpenSet(files *fileSet) *openSet {
	return &openSet{fileSet: files, first: files.name.First, ids: make(map[identity]struct{})}
}
