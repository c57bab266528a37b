package weburl

import (
	"errors"
	"sync"
	"testing"
)

// TestResolveRFC3986 runs the examples of RFC 3986 section 5.4. Cases in which the URL standard
// differs are marked.
func TestResolveRFC3986(t *testing.T) {
	checkResolve(t, "http://a/b/c/d;p?q", [][2]string{
		{"g", "http://a/b/c/g"},
		{"./g", "http://a/b/c/g"},
		{"g/", "http://a/b/c/g/"},
		{"/g", "http://a/g"},
		{"//g", "http://g/"}, // the root path is added
		{"?y", "http://a/b/c/d;p?y"},
		{"g?y", "http://a/b/c/g?y"},
		{"#s", "http://a/b/c/d;p?q"}, // the canonical form has no fragment
		{"g#s", "http://a/b/c/g"},
		{"g?y#s", "http://a/b/c/g?y"},
		{";x", "http://a/b/c/;x"},
		{"g;x", "http://a/b/c/g;x"},
		{"g;x?y#s", "http://a/b/c/g;x?y"},
		{"", "http://a/b/c/d;p?q"},
		{".", "http://a/b/c/"},
		{"./", "http://a/b/c/"},
		{"..", "http://a/b/"},
		{"../", "http://a/b/"},
		{"../g", "http://a/b/g"},
		{"../..", "http://a/"},
		{"../../", "http://a/"},
		{"../../g", "http://a/g"},
		{"../../../g", "http://a/g"},
		{"../../../../g", "http://a/g"},
		{"/./g", "http://a/g"},
		{"/../g", "http://a/g"},
		{"g.", "http://a/b/c/g."},
		{".g", "http://a/b/c/.g"},
		{"g..", "http://a/b/c/g.."},
		{"..g", "http://a/b/c/..g"},
		{"./../g", "http://a/b/g"},
		{"./g/.", "http://a/b/c/g/"},
		{"g/./h", "http://a/b/c/g/h"},
		{"g/../h", "http://a/b/c/h"},
		{"g;x=1/./y", "http://a/b/c/g;x=1/y"},
		{"g;x=1/../y", "http://a/b/c/y"},
		{"g?y/./x", "http://a/b/c/g?y/./x"},
		{"g?y/../x", "http://a/b/c/g?y/../x"},
		{"http:g", "http://a/b/c/g"}, // relative in browsers
	})
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		rule, base string
		cases      [][2]string
	}{
		{"the base is canonicalised first", "HTTPS://user@Example.org.:443/a/../b/%7Ec?x#y", [][2]string{
			{"", "https://example.org/b/~c?x"},
			{"d", "https://example.org/b/d"},
			{"?", "https://example.org/b/~c"},
			{"//other.org:443", "https://other.org/"},
			{"//other.org:80", "https://other.org:80/"},
		}},
		{"a slash in the query is not a directory", "http://a/b?c/d", [][2]string{
			{"e", "http://a/e"},
			{"?f", "http://a/b?f"},
		}},
		{"references as found in the wild", "https://example.org/dir/page?q", [][2]string{
			{" image.png\n", "https://example.org/dir/image.png"},
			{"my file.pdf", "https://example.org/dir/my%20file.pdf"},
			{"my file.pdf #page=2", "https://example.org/dir/my%20file.pdf%20"},
			{"größe", "https://example.org/dir/gr%C3%B6%C3%9Fe"},
			{`..\up`, "https://example.org/up"},
			{`\\other.org\x`, "https://other.org/x"},
			{`/\other.org/x`, "https://other.org/x"},
			{"///other.org/x", "https://other.org/x"},
			{"long\n  name", "https://example.org/dir/long%20%20name"},
			{"100%", "https://example.org/dir/100%"},
			{"a/b:c", "https://example.org/dir/a/b:c"},
			{"1:2", "https://example.org/dir/1:2"},
			{":x", "https://example.org/dir/:x"},
			{"https:", "https://example.org/dir/page?q"},
			{"https:#x", "https://example.org/dir/page?q"},
			{"https:page", "https://example.org/dir/page"},
			{"http:page", "http://page/"},
			{"http://OTHER.org", "http://other.org/"},
		}},
		{"other hosts than names", "http://[2001:DB8::1]:8080/a/b", [][2]string{
			{"c", "http://[2001:db8::1]:8080/a/c"},
			{"/é\\c", "http://[2001:db8::1]:8080/%C3%A9/c"},
			{"//[::1]", "http://[::1]/"},
		}},
	} {
		t.Run(c.rule, func(t *testing.T) { checkResolve(t, c.base, c.cases) })
	}
}

func checkResolve(t *testing.T, base string, cases [][2]string) {
	t.Helper()
	b, err := NewBase(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if got, err := b.Resolve(c[0]); err != nil || got != c[1] {
			t.Errorf("Resolve(%q) against %s = %q, %v, want %q", c[0], base, got, err, c[1])
		}
	}
}

func TestResolveErrors(t *testing.T) {
	b, err := NewBase("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	for ref, kind := range map[string]error{
		"mailto:a@example.org": ErrScheme,
		"foo:bar":              ErrScheme,
		"localhost:8080":       ErrScheme,
		"\u00a0javascript:x":   nil, // a no-break space is not trimmed, so this is a path
		"//":                   ErrInvalid,
		"http://a:b/":          ErrInvalid,
		"//exa mple.org":       ErrInvalid,
	} {
		if _, err := b.Resolve(ref); !errors.Is(err, kind) {
			t.Errorf("Resolve(%q): %v, want %v", ref, err, kind)
		}
	}
	if _, err := NewBase("about:blank"); !errors.Is(err, ErrScheme) {
		t.Errorf("NewBase(about:blank): %v, want %v", err, ErrScheme)
	}
}

// TestBaseConcurrent is for the race detector: the references take the slow
// path, which parses the base at first need.
func TestBaseConcurrent(t *testing.T) {
	b, err := NewBase("https://example.org/a/b?c=d")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got, err := b.Resolve(`x\y`); err != nil || got != "https://example.org/a/x/y" {
					t.Errorf("Resolve = %q, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}
