package crawlspec

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"seine/pkg/messages"
)

// KindChunk is the kind of the records of Chunks.
const KindChunk = "chunk"

// EachChunk is the Each.From of the rule for Chunks. Only Extraction.Rules has it.
const EachChunk = "chunks"

// Chunks splits the main content of pages by headings and paragraphs, into records of KindChunk.
type Chunks struct {
	// Match lists patterns, as in Spec.Include; the URL must match one. If it is empty, every URL matches.
	Match Strings `json:"match,omitempty"`
	// Types of document, of ChunkTypes; all of these if it is empty.
	Types Strings `json:"types,omitempty"`
	// When is a condition for the page.
	When *Condition `json:"when,omitempty"`
	// Size is the size of a chunk at most; 0 is DefaultChunkSize.
	Size int `json:"size,omitempty"`
	// Overlap is how much of the chunk before a chunk repeats at most; it counts as a part of Size.
	Overlap int `json:"overlap,omitempty"`
	// Unit is that of both: characters, words or tokens (the default).
	Unit Unit `json:"unit,omitempty"`
	// Fields are further fields of the records, by selectors on the chunk, and values of the page.
	Fields Fields `json:"fields,omitempty"`
}

// ChunkTypes are the types of document that have a main content, or are text.
var ChunkTypes = []string{"html", "text", "pdf", "office"}

// Unit is what the size of a text is counted in.
type Unit string

// Units. Tokens are those of the encoding cl100k_base.
const (
	UnitCharacters Unit = "characters"
	UnitWords      Unit = "words"
	UnitTokens     Unit = "tokens"
)

// Bounds and default of the size of chunks.
const (
	MinChunkSize     = 20
	MaxChunkSize     = 100_000
	DefaultChunkSize = 500
)

// none is the value of a field that a chunk lacks.
var none = Value(`""`)

// chunkFields are the fields of a chunk.
var chunkFields = Fields{
	{"id", Field{Get: "@key"}},
	{"title", Field{From: "page:title", Default: none}},
	{"breadcrumb", Field{Get: "@breadcrumb", Default: none}},
	{"anchor", Field{Get: "@id", Default: none}},
	{"position", Field{Get: "@position", As: "integer"}},
	{"size", Field{Get: "@size", As: "integer"}},
	{"text", Field{Get: "raw", Trim: new(bool)}},
}

// MaxSize returns the maximum size of a chunk.
func (c *Chunks) MaxSize() int { return cmp.Or(c.Size, DefaultChunkSize) }

// SizeUnit returns the unit of sizes.
func (c *Chunks) SizeUnit() Unit { return cmp.Or(c.Unit, UnitTokens) }

func (c *Chunks) rule() *RecordRule {
	return &RecordRule{
		Kind: KindChunk, Target: Target{Match: c.Match, Types: c.Types, When: c.When},
		Each: &Each{From: EachChunk}, Key: "{id}", Fields: slices.Concat(chunkFields, c.Fields),
	}
}

// Rules iterates over the record rules, each with its path in the spec: Records, and the rule of
// Chunks.
func (e *Extraction) Rules() iter.Seq2[string, *RecordRule] {
	return func(yield func(string, *RecordRule) bool) {
		for i := range e.Records {
			if !yield(fmt.Sprintf("records[%d]", i), &e.Records[i]) {
				return
			}
		}
		if e.Chunks != nil {
			yield("chunks", e.Chunks.rule())
		}
	}
}

func (e *Extraction) checkChunks(p *Problems) {
	c := e.Chunks
	if c == nil {
		return
	}
	r := c.rule()
	r.Each, r.Types = nil, nil // no other rule may have these
	r.check(p, "chunks")
	p.list("chunks.types", c.Types, ChunkTypes)
	size := c.MaxSize()
	if between(p, "chunks.size", size, MinChunkSize, MaxChunkSize) && (c.Overlap < 0 || 2*c.Overlap > size) {
		p.Addf("chunks.overlap", "%d: must be from 0 to half of the size, %d", c.Overlap, size/2)
	}
	p.oneOf("chunks.unit", string(c.SizeUnit()), []string{string(UnitCharacters), string(UnitWords), string(UnitTokens)})
	for i := range e.Records {
		if e.Records[i].Kind == KindChunk {
			p.Addf(fmt.Sprintf("records[%d].kind", i), "%q: is the kind of the records of chunks: choose another name", messages.Clip(KindChunk))
		}
	}
}
