package writer

import (
	"maps"
	"slices"

	"seine/pkg/stages"
)

// openSet is what came after the last commit.
type openSet struct {
	first    uint64              // sequence of the first message
	last     *stages.FeedMessage // nil where it must not be acknowledged
	messages int
	raw      int64 // bytes of the records, before compression
	repeats  int
	bad      int
	chunks   map[string]*openChunk // by crawl
	ids      map[identity]struct{}
	visits   []byte // the same, in order
}

// openChunk is a chunk and its encoder.
type openChunk struct {
	Chunk
	enc     Encoder
	records int
	raw     int64
	closed  func()
}

func newOpenSet(first uint64) *openSet {
	return &openSet{first: first, chunks: make(map[string]*openChunk), ids: make(map[identity]struct{})}
}

// finish makes every chunk durable.
func (s *openSet) finish() ([]File, error) {
	files := make([]File, 0, len(s.chunks))
	for _, crawl := range slices.Sorted(maps.Keys(s.chunks)) {
		c := s.chunks[crawl]
		if err := c.enc.Close(); err != nil {
			return nil, err
		}
		f, err := c.Finish()
		if err != nil {
			return nil, err
		}
		f.Records, f.RawBytes = c.records, c.raw
		files = append(files, f)
	}
	return files, nil
}

// abandon removes what is not finished, and lets go of the rest.
func (s *openSet) abandon() {
	for _, c := range s.chunks {
		c.Abandon()
		c.closed()
	}
	clear(s.chunks)
}
