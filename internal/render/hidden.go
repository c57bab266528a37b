package render

import (
	"strings"

	"github.com/chromedp/cdproto/domsnapshot"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/weburl"
)

// shownStyles are the computed styles of a snapshot that determine visibility. Elements without a
// box are not in its layout.
var shownStyles = []string{"visibility", "content-visibility"}

// wordless are elements whose text is not part of the page, or is not displayed in a separate box.
var wordless = map[string]bool{
	"script": true, "style": true, "template": true, "noscript": true, "head": true, "option": true, "datalist": true,
	"audio": true, "video": true, "canvas": true, "object": true, "textarea": true, "svg": true, "rp": true, "annotation": true, "annotation-xml": true,
}

// seen states for each node whether part of it is visible, and whether it contains text. If nothing
// is laid out, all nodes are visible.
type seen struct{ shown, words []bool }

func newSeen(d *snapshotDocument, layout *domsnapshot.LayoutTreeSnapshot) seen {
	n := len(d.nodes.ParentIndex)
	s, unseen, skipped := seen{make([]bool, n), make([]bool, n)}, make([]bool, n), make([]bool, n)
	for i, node := range layout.NodeIndex {
		s.shown[node] = true
		if style := layout.Styles[i]; len(style) == len(shownStyles) {
			unseen[node] = textOf(d.text, style[0]) != "visible"
			skipped[node] = textOf(d.text, style[1]) != "visible" // its content is not laid out before it comes into view
		}
	}
	for node, parent := range d.nodes.ParentIndex { // parents precede their children
		if parent < 0 {
			continue
		}
		text := d.kind(node) == textNode
		skipped[node] = skipped[node] || skipped[parent] || d.element(int(parent)) == "details"
		s.shown[node] = skipped[node] && s.shown[parent] || s.shown[node] && !unseen[node] && !(text && unseen[parent])
		s.words[node] = text && strings.TrimSpace(d.value(node)) != ""
	}
	for node := n - 1; node > 0; node-- {
		parent := d.nodes.ParentIndex[node]
		s.shown[parent] = s.shown[parent] || s.shown[node]
		s.words[parent] = s.words[parent] || s.words[node] && !wordless[d.element(node)]
	}
	return s
}

// hides reports whether an element has text of which nothing is visible, and is the outermost such
// element.
func (s seen) hides(node int, parents []int64) bool {
	unseen := func(n int64) bool { return n >= 0 && s.words[n] && !s.shown[n] }
	return s.shown[0] && unseen(int64(node)) && !unseen(parents[node])
}

// adWords are words in URLs of advertisements and of bot checks.
var adWords = lazyregexp.New(`(?i)(?:^|[^a-z])(?:ads?|ad-?s(?:erver|ervice|ystem)|advert(?:s|ising|isements?)?|adnxs|doubleclick|googlesyndication|taboola|outbrain|criteo|(?:h|re)?captcha)(?:[^a-z]|$)`)

// isAd reports whether the document of a frame is of another site than the page, and its URL,
// without the query, contains such a word.
func isAd(frame, page string) bool {
	frame, _, _ = strings.Cut(frame, "?")
	return strings.HasPrefix(frame, "http") && weburl.Domain(weburl.Hostname(frame)) != weburl.Domain(weburl.Hostname(page)) && adWords().MatchString(frame)
}
