package htmlpage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"

	"seine/internal/base/ascii"
)

// ours and theirs write a document's tokens one per line, in the same notation. The tokenizer of
// golang.org/x/net/html passes the standard's test suite, and is the reference for this one.

func ours(in []byte) []string { return (&transcript{}).ours(in) }

func (t *transcript) ours(in []byte) []string {
	var tok tokenizer
	tok.reset(in)
	for {
		switch tok.next() {
		case tokenEnd:
			return t.lines
		case tokenText:
			t.text(unescape(tok.text))
		case tokenRaw:
			t.text(string(tok.text))
		case tokenClose:
			t.tag("/", tok.name, nil)
		case tokenStart:
			t.tag("", tok.name, ourAttrs(&tok))
			t.text(ourRaw(&tok))
		}
	}
}

func ourAttrs(t *tokenizer) (attrs []string) {
	for _, a := range t.attrs[:t.nAttrs] {
		value := appendAttribute(nil, newlines(t.in[a.value.from:a.value.to]))
		attrs = append(attrs, notation(t.in[a.key.from:a.key.to], value))
	}
	return attrs
}

func ourRaw(t *tokenizer) string {
	e := lookup(t.name)
	content, _ := t.readContent(e)
	if e == elemTitle || e == elemTextarea {
		return unescape(content)
	}
	return string(content)
}

// newlines normalizes newlines as the standard does (section 13.2.3.5), before it decodes
// references: "&#13;\n" is two characters. This tokenizer leaves them unchanged, since they are
// white space in either form.
func newlines(b []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

func unescape(b []byte) string {
	var out []byte
	b = newlines(b)
	for len(b) > 0 {
		n := 1
		if b[0] == '&' {
			out, n = appendReference(out, b, false)
		} else {
			out = append(out, b[0])
		}
		b = b[n:]
	}
	return string(out)
}

func theirs(in []byte) []string {
	z := xhtml.NewTokenizer(bytes.NewReader(in))
	var out transcript
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			return out.lines
		case xhtml.TextToken:
			out.text(string(z.Text()))
		case xhtml.EndTagToken:
			name, _ := z.TagName()
			out.tag("/", name, nil)
		case xhtml.StartTagToken, xhtml.SelfClosingTagToken:
			name, more := z.TagName()
			name = bytes.Clone(name)
			var attrs []string
			for more {
				var k, v []byte
				k, v, more = z.TagAttr()
				attrs = append(attrs, notation(k, v))
			}
			out.tag("", name, attrs)
			if lookup(name) == elemNoScript {
				z.NextIsNotRawText()
			}
		}
	}
}

type transcript struct {
	lines  []string
	inText bool
	sorted bool // attributes are by name, not in the order of the tag
}

func (t *transcript) text(s string) {
	s = normal(s)
	switch {
	case s == "":
	case t.inText:
		t.lines[len(t.lines)-1] += s
	default:
		t.lines = append(t.lines, "text "+s)
		t.inText = true
	}
}

func (t *transcript) tag(slash string, name []byte, attrs []string) {
	var kept []string
	seen := map[string]bool{}
	for _, a := range attrs {
		key, _, _ := strings.Cut(a, "\x01")
		if !seen[key] {
			kept = append(kept, a)
		}
		seen[key] = true
	}
	if t.sorted {
		slices.Sort(kept)
	}
	t.lines = append(t.lines, fmt.Sprintf("<%s%s %q>", slash, normal(lowerASCII(name)), kept))
	t.inText = false
}

func notation(key, value []byte) string {
	return normal(lowerASCII(key) + "\x01" + string(value))
}

func lowerASCII(b []byte) string {
	out := bytes.Clone(b)
	for i := range out {
		out[i] = ascii.Lower(out[i])
	}
	return string(out)
}

// normal removes intended differences: this tokenizer leaves newlines and NUL to its caller, and
// golang.org/x/net/html does not decode two references.
func normal(s string) string { return normalizer.Replace(s) }

var normalizer = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd", "\u226a\u20d2", "&nLt;", "\u226b\u20d2", "&nGt;")

var tokenSeeds = []string{
	"", "plain", "a < b <1 <", "</", "</>x", "</ x>y", "<", "<a", "<a ", "<a b", "<a b='c", "<a b=c", "x<a>y</a>",
	`<a b c='1' d="2>" e=3/ =f = g h="">x`, "<a/b/ c/>x", `<a b="1" B="2">`, "<A HREF=x>", `<a b="c"d="e">`, "<a b=>x", "<a =>x", "<a ==x>y",
	"<!---->x", "<!-->x", "<!--->x", "<!--a--!>x", "<!--!>x-->y", "<!---!>x-->y", "<!----!>x", "<!--a", "<!-- a -- b -->c", "<!--a--->b",
	"<!DOCTYPE html>x", "<!x>y", "<?xml a?>b", "<!>x", "<?>x", "<![CDATA[a>b]]>",
	"<script>a</script>b", "<script>a<!--<script>b</script>c--></script>d", "<script><!--</script>x", "<script><!--><script></script>x",
	"<script><!--<script>a</script>b</script>c", "<script></scriptx></script >y", "<script><!-- <script --></script>x", "<SCRIPT>x</ScRiPt>y",
	"<style>a<b</style>c", "<title>a&amp;<b></title>c", "<textarea>&lt;</textarea>", "<plaintext>a</plaintext>", "<xmp><b></xmp>", "<noscript><a href=x></noscript>",
	"&amp;&lt;&copy&copy;&notit;&notin;&#65;&#x41;&#0;&#x110000;&#xd800;&#128;&#129;&;&#;&#x;&x;&semi;&NotEqualTilde;",
	`<a href="?a&copy=1&copy;&copyx&copy &notit;&notin;&lt&#65&semi;&NotEqualTilde;&amp">`, "<a b=&amp;>", "\x00<a\x00b \x00=\x00>\r\n\r",
}

func TestTokensAreThoseOfTheStandard(t *testing.T) {
	for _, in := range tokenSeeds {
		if a, b := ours([]byte(in)), theirs([]byte(in)); !slices.Equal(a, b) {
			t.Errorf("%q\n got %q\nwant %q", in, a, b)
		}
	}
}

// otherScript matches input with different results of the other tokenizer: after "<!--" in a script
// and a "<" that opens no tag, it no longer treats the script as escaped, unlike the standard
// (section 13.2.5.23).
var otherScript = regexp.MustCompile(`(?is)<script.*<!--.*<([^a-z/]|$)`)

func TestScriptStaysEscapedAfterAnyAngle(t *testing.T) {
	const in = "<script><!--<<script></script>x</script>y"
	want := []string{"<script []>", "text <!--<<script></script>x", "</script []>", "text y"}
	if got := ours([]byte(in)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzTokens(f *testing.F) {
	for _, in := range tokenSeeds {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if otherScript.Match(in) {
			return
		}
		if a, b := ours(bytes.Clone(in)), theirs(bytes.Clone(in)); !slices.Equal(a, b) {
			t.Errorf("%q\n got %q\nwant %q", in, a, b)
		}
	})
}

// soup are the pieces of tag soup: each means something in some state.
var soup = []string{
	"<", ">", "</", "/>", "<!--", "-->", "--!>", "-", "--", "!", "=", `"`, "'", " ", "\n", "/", "a", "x", "&", "&amp", ";", "#", "&lt;",
	"<a ", "<a href=", "</a>", "<script", "<script>", "</script", "</script>", "<style>", "</style>", "<title>", "</title>",
	"<textarea>", "</textarea>", "<noscript>", "<!", "<?", "<![CDATA[", "]]>", "<xmp>", "</xmp ", "<iframe>", "</iframe>", "\x00",
}

func TestTokensOfTagSoup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var in []byte
		for range 1 + r.IntN(24) {
			in = append(in, soup[r.IntN(len(soup))]...)
		}
		if a, b := ours(in), theirs(in); !slices.Equal(a, b) {
			t.Fatalf("%q\n got %q\nwant %q", in, a, b)
		}
	}
}
