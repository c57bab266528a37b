package weburl

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tokens are pieces of URLs with a meaning somewhere in the grammar. Strings of them reach
// combinations that byte-wise fuzzing takes long to find.
var tokens = []string{
	"a", "B", "xn--", "0", "1", "255", "256", "0x", "80", "443", "-", "_", "~", "+", "^", "|", "'", "\"", "{", "e",
	".", "..", "/", "//", "\\", ":", "@", "?", "#", "[", "]", "::1", "&", "=", ";", ",",
	"%", "%2", "%2e", "%2E", "%41", "%7e", "%2f", "%25", "%c3", "%zz", "32", "2e", "65",
	" ", "\t", "\n", "\x00", "\x7f", "\xff", "é", "ß", "。", "\u00ad", "≠", "😀",
	"http:", "https:", "HTTP://", "https://h", "http://h:", "mailto:", "h.org", "localhost",
}

func genReference() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 12).Draw(t, "tokens"), "")
	})
}

// TestResolveAgrees compares the package with the complete parser, on bases and references composed
// of tokens.
func TestResolveAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom(bases).Draw(t, "base")
		if rapid.Bool().Draw(t, "extend base") {
			base = "https://h.org/" + genReference().Draw(t, "path")
		}
		b, err := NewBase(base)
		if err != nil {
			return
		}
		checkAgrees(t, b, base, genReference().Draw(t, "ref"))
	})
}

// TestHostsAgree does the same with the tokens in the authority.
func TestHostsAgree(t *testing.T) {
	b, err := NewBase("https://h.org/a/b")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		checkAgrees(t, b, b.url, "//"+genReference().Draw(t, "host"))
	})
}

// TestFastPathAccepts guards the speed: common references must not take the slow path unnoticed.
func TestFastPathAccepts(t *testing.T) {
	b, err := NewBase("https://example.org/dir/page?q")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		"foo.html", "foo/bar.html?x=1#frag", "../x", "./x", "..", "/abs", "//host/p", "?q", "http://Host.org",
		"https://host.org:8443/path", "http://h:80?q", "http://192.0.2.1/", "http://a_b.org/", "a b", "größe?ü",
		"%7Eme/%c3%bc", "x?a=%20&b[]='1'&c={}|", "a;b=c,d/e:f@g!$&*()+",
	} {
		text := strip(ref)
		if _, ok := b.fastResolve(text, schemeLength(text)); !ok {
			t.Errorf("the fast path declines %q", ref)
		}
	}
}
