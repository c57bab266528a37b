package document

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/article"
	"seine/internal/page/chunk"
	"seine/internal/page/mediatype"
)

// Attributes of a chunk, in addition to its text, the id of its section, article.AttrBreadcrumb and
// AttrPosition.
const (
	AttrKey  = "key"  // hash of the URL and the text
	AttrSize = "size" // of the text
)

// maxChunked is the maximum length of Markdown that is split, in bytes.
const maxChunked = 8 << 20

// Chunks splits the main content of a page, or a text, into chunks. They are elements whose text is Markdown.
func (d *Document) Chunks(o chunk.Options) ([]*html.Node, error) {
	parts, err := d.parts()
	if err != nil {
		return nil, err
	}
	size := 0
	for i := range parts {
		size += len(parts[i].Markdown)
	}
	if size > maxChunked {
		return nil, fmt.Errorf("%w: its content has %d bytes, at most %d can be split into chunks", ErrTooBig, size, maxChunked)
	}
	chunks := o.Split(parts)
	nodes := make([]*html.Node, len(chunks))
	times := make(map[string]int, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		nodes[i] = chunkNode(c, i+1, chunkKey(d.URL, c.Text, times[c.Text]))
		times[c.Text]++
	}
	return nodes, nil
}

func chunkNode(c *chunk.Chunk, position int, key string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: "section", DataAtom: atom.Section, Attr: []html.Attribute{
		{Key: AttrKey, Val: key}, {Key: "id", Val: c.Anchor}, {Key: article.AttrBreadcrumb, Val: c.Breadcrumb},
		{Key: article.AttrPosition, Val: strconv.Itoa(position)}, {Key: AttrSize, Val: strconv.Itoa(c.Size)},
	}}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: c.Text})
	return n
}

// chunkKey returns the key of a text of a page that the page has had this many times before.
func chunkKey(url, text string, times int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", url, times, text))
	return hex.EncodeToString(sum[:16])
}

// parts returns the sections of a page, or of a text, which may be Markdown.
func (d *Document) parts() (parts []chunk.Part, err error) {
	if d.Type.Class == mediatype.Text {
		return chunk.PartsOf(string(d.Body())), nil
	}
	content, err := d.Main()
	for _, n := range article.Parts(content.Node) {
		level, _ := strconv.Atoi(Attribute(n, article.AttrLevel))
		parts = append(parts, chunk.Part{
			Level: level, Breadcrumb: Attribute(n, article.AttrBreadcrumb), Anchor: Attribute(n, "id"), Markdown: article.Markdown(n, d.BaseURL()),
		})
	}
	return parts, err
}
