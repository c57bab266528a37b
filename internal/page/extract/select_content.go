package extract

import (
	"unicode/utf8"

	"golang.org/x/net/html"

	"seine/internal/page/chunk"
	"seine/pkg/crawlspec"
)

// selectContent yields the main content of the page, its sections or its chunks. The nodes are
// copies.
func (r *run) selectContent(s *selector, yield func(item) bool) error {
	var nodes []*html.Node
	var err error
	switch {
	case s.from == crawlspec.EachChunk:
		nodes, err = r.doc.Chunks(s.chunks)
	case !r.doc.IsHTML():
	case s.from == "main":
		nodes, err = r.doc.MainNodes()
	case s.from == "sections":
		nodes, err = r.doc.Sections()
	}
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := r.spend(1); err != nil {
			return err
		}
		if !yield(nodeItem(n)) {
			break
		}
	}
	return nil
}

var chunkCounts = map[crawlspec.Unit]func(string) int{
	crawlspec.UnitCharacters: utf8.RuneCountInString, crawlspec.UnitWords: chunk.Words, crawlspec.UnitTokens: chunk.Tokens,
}

func chunkOptions(c *crawlspec.Chunks) chunk.Options {
	return chunk.Options{Size: c.MaxSize(), Overlap: c.Overlap, Count: chunkCounts[c.SizeUnit()]}
}
