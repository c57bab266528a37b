package article

import (
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// Some pages have no single text: a thread has posts, and a shop or an index has entries. Both are
// elements of one class.

// leastPosts and leastCards are the minimum numbers of elements of a class that are posts or
// entries of a list. From manyCards entries on, they are the content beside a text that is half as
// long.
const (
	leastPosts = 2
	leastCards = 4
	manyCards  = 8
)

// repeated are blocks of one class that do not contain each other.
type repeated struct {
	at    []int32
	words int32 // weight of their text outside links
	text  int32 // with links
}

func (r *repeated) add(bs blocks, b *block) {
	if n := len(r.at); n > 0 && b.at < bs[r.at[n-1]].end {
		return
	}
	r.at, r.words, r.text = append(r.at, b.at), r.words+words(b), r.text+b.text
}

// has reports whether a block is in r. Calls must be in the order of the blocks.
func (r *repeated) has(i int32) bool {
	for len(r.at) > 0 && r.at[0] < i {
		r.at = r.at[1:]
	}
	return len(r.at) > 0 && r.at[0] == i
}

// isIn reports whether a block contains a block of r that was not passed by has yet.
func (r *repeated) isIn(b *block) bool { return len(r.at) > 0 && r.at[0] < b.end }

// groups are repeated blocks, by their class.
type groups struct {
	index map[uint64]int
	all   []repeated
}

// group adds the blocks in the range that is accepts and that have text.
func (g *groups) group(bs blocks, from, to int32, is func(*block) bool) {
	if g.index == nil {
		g.index = make(map[uint64]int)
	}
	for b := range bs.kept(from, to) {
		if b.text == 0 || !isHolder(b.node) && b.node.DataAtom != atom.Li || !is(b) {
			continue
		}
		key := classKey(b.node)
		if key == 0 {
			continue
		}
		n, known := g.index[key]
		if !known {
			n = len(g.all)
			g.index[key], g.all = n, append(g.all, repeated{})
		}
		g.all[n].add(bs, b)
	}
}

var classSeed = maphash.MakeSeed()

// classKey returns a key that elements share if they have the same tag and class, or the same id
// without trailing digits. It ignores names with digits, which often number posts. It is 0 for an
// element without either.
func classKey(n *html.Node) uint64 {
	v := dom.Attribute(n, "class")
	if v == "" {
		v = strings.TrimRight(dom.Attribute(n, "id"), "0123456789")
	}
	if v == "" || len(v) > maxClass {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(classSeed)
	_, _ = h.WriteString(n.Data)
	for name := range strings.FieldsSeq(v) {
		if !strings.ContainsAny(name, "0123456789") {
			_ = h.WriteByte(' ')
			_, _ = h.WriteString(name)
		}
	}
	return h.Sum64()
}

// largest returns the group with the most text among those of at least this many blocks.
func (g *groups) largest(least int) (best repeated) {
	for _, r := range g.all {
		if len(r.at) >= least && r.words > best.words {
			best = r
		}
	}
	return best
}

// posts returns the posts of a page if they have at least half of its text.
func (bs blocks) posts() (best repeated, ok bool) {
	var all groups
	all.group(bs, 1, int32(len(bs)), func(b *block) bool { return b.isPost })
	best = all.largest(leastPosts)
	if best.words < enough || best.words*2 < words(&bs[0]) {
		return best, false
	}
	return bs.inner(best), true
}

// inner returns the elements of one class that hold nearly all text of the posts, or the posts if
// there is no such class.
func (bs blocks) inner(whole repeated) repeated {
	var inner groups
	best := whole
	for _, i := range whole.at {
		inner.group(bs, i+1, bs[i].end, func(*block) bool { return true })
	}
	for _, r := range inner.all {
		if len(r.at)*5 >= len(whole.at)*4 && r.words*10 >= whole.words*7 && r.words <= best.words {
			best = r
		}
	}
	return best
}

// keepPosts drops everything beside the posts, except the title and long texts before them, and
// returns the block that contains them.
func (bs blocks) keepPosts(posts repeated) int32 {
	bs[0].kind = kindThread
	first := posts.at[0]
	main, titles := bs.around(posts.at...), bs.titles(first)
	for i := main + 1; i < bs[main].end; {
		b := &bs[i]
		switch {
		case b.dropped:
		case posts.has(i):
			bs.cleanPost(i)
		case posts.isIn(b), titles.has(i), titles.isIn(b): // contains one of them
			i++
			continue
		case !b.hasH1 && (i > first || words(b) < enough || b.link*3 > b.text):
			b.dropped = true
		}
		i = b.end
	}
	bs.sum()
	return main
}

// dropCopies drops the paragraphs of a thread that repeat an earlier one, and quotes that contain
// such a paragraph.
func dropCopies(bs blocks, main int32) {
	type paragraph struct {
		start  string
		weight int32 // 0 in a quote, which may quote only a part
	}
	seen := make(map[paragraph]bool)
	for b := range bs.kept(main+1, bs[main].end) {
		if b.own < maxQuote || b.node.DataAtom == atom.Pre || b.inData {
			continue
		}
		p := paragraph{quote(b.node), b.own}
		if bs.isIn(b, atom.Blockquote) {
			p.weight = 0
		}
		b.dropped = seen[p]
		seen[p], seen[paragraph{p.start, 0}] = true, true
		for i := b.at; b.dropped && i > main; i = bs[i].parent {
			bs[i].dropped = bs[i].dropped || bs[i].node.DataAtom == atom.Blockquote
		}
	}
	bs.sum()
}

// titles returns the headings of the first two levels before a block.
func (bs blocks) titles(before int32) (all repeated) {
	for i := range before {
		if a := bs[i].node.DataAtom; a == atom.H1 || a == atom.H2 {
			all.at = append(all.at, i)
		}
	}
	return all
}

// cleanPost drops named boilerplate in a post, unless it is most of the post.
func (bs blocks) cleanPost(post int32) {
	whole := words(&bs[post])
	drop(bs, post, func(b *block) bool {
		return b.isNamedBoilerplate(bs[0].kind) && !isContentRoot(b.node) && words(b)*5 < whole*3
	})
}

// cards returns the entries of a list, such as the products of a shop: elements of one class that
// have links.
func (bs blocks) cards() (best repeated, ok bool) {
	var all groups
	all.group(bs, 1, int32(len(bs)), func(b *block) bool { return b.link > 0 })
	for _, r := range all.all {
		if len(r.at) >= leastCards && r.text > best.text {
			best = r
		}
	}
	return best, best.text > enough
}

// around returns the innermost block that contains all of some blocks.
func (bs blocks) around(some ...int32) int32 {
	main, last := slices.Min(some), slices.Max(some)
	for last >= bs[main].end {
		main = bs[main].parent
	}
	return main
}
