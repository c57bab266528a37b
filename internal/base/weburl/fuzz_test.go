package weburl

import (
	"errors"
	"testing"
)

// seeds are references that once caused an error, or nearly did.
var seeds = []string{
	"", "#", "?", "/", "//", "///", ".", "..", "../..", "./x", "../x", "/abs", "//host/p", "#frag", "?q",
	"foo.html", "foo/bar.html?x=1#frag", "http://h:80", "https://h:443/p?q#f", "HTTP://H", "http:x", "https:", "https:/x",
	"%2e%2E/x", ".%2e", "x/%2e", "%", "%%32e", "%2%65", "%zz", "%41%7e%c3", "a^b?a^b", "a b ", "a b #", "\tx\ny", "\t\xd2\n\x97",
	"//1.2.3.4", "//1.2.3", "//0x7f.1", "//1.2.3.4.", "//a.", "//a..", "//1..", "//.", "//..", "//a..b", "//a.0x1..",
	"//-1", "//a.-1", "//a_b", "//xn--bcher-kva.de", "//xn--", "//XN--a", "//bücher.de", "//≠.de", "//a\u00adb",
	"//[::1]:80/", "//[[::1]]", "//[1:2:3:4:5:6:7::]", "//u:p@h:1/", "//h:00080", "//h:65536", "//h:", "//h:0", `\\h\p`, `/\h`,
	"\xff", "?\xff", "é?é", "\x7f", "\x01", "//h\x7f", "//h%41", "//h%00", "//h%2e", "javascript:x", "1:2", "a:b", "a/b:c",
	"//ab--c.de", "//a-.b", "//-.b", "//_", "//a._", "//A.B_C", "//0.a0", "//a.b0", "//a.0b", "//256.1.1.1", "//01.1.1.1",
}

var bases = []string{
	"http://a/", "https://example.org/dir/page?q=/x", "http://[::1]:8080/a//b", "http://h/100%/x", "https://xn--bcher-kva.de/%C3/..",
	"http://h/..", "HTTP://U@H.:80/%7e#x",
}

// reference resolves without the package's shortcuts.
func reference(base, ref string) (string, error) {
	u, err := parser.ParseRef(base, string([]rune(ref))) // decoded, as in the standard
	if err != nil {
		return "", newError(ErrInvalid, ref, reason(err))
	}
	return serializeStable(u, ref)
}

// FuzzResolve compares the results with those of the complete parser, those of the fast path in
// particular.
func FuzzResolve(f *testing.F) {
	for _, base := range bases {
		for _, ref := range seeds {
			f.Add(base, ref)
		}
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		b, err := NewBase(base)
		if err != nil {
			return
		}
		if len(ref) <= maxInput {
			checkAgrees(t, b, base, ref)
		}
	})
}

// checkAgrees compares Resolve with reference.
func checkAgrees(t reporter, b *Base, base, ref string) {
	t.Helper()
	got, err := b.Resolve(ref)
	if errors.Is(err, ErrTooLong) {
		return
	}
	want, wantErr := reference(base, ref)
	if got != want || (err == nil) != (wantErr == nil) {
		t.Errorf("Resolve(%q) against %q = %q, %v, complete parser gives %q, %v", ref, base, got, err, want, wantErr)
	}
	if err == nil {
		checkCanonical(t, got)
	}
}

// FuzzCanonicalize checks the invariants for every input.
func FuzzCanonicalize(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
		f.Add("http:" + seed)
		f.Add("https://h/" + seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Canonicalize(raw)
		if err == nil {
			checkCanonical(t, u)
			return
		}
		if u != "" || err.Error() == "" {
			t.Errorf("Canonicalize(%q) = %q with error %v", raw, u, err)
		}
		if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrScheme) && !errors.Is(err, ErrTooLong) {
			t.Errorf("Canonicalize(%q): error %v wraps no sentinel", raw, err)
		}
	})
}

func checkCanonical(t reporter, u string) {
	t.Helper()
	if again, err := Canonicalize(u); err != nil || again != u {
		t.Errorf("%q is no fixed point: %q, %v", u, again, err)
	}
	if len(u) > MaxLength {
		t.Errorf("%q is too long", u)
	}
	if Origin(u)+Path(u) != u || Path(u)[0] != '/' || Host(u) == "" || Hostname(u) == "" {
		t.Errorf("views of %q: origin %q, host %q, hostname %q, path %q", u, Origin(u), Host(u), Hostname(u), Path(u))
	}
	Domain(Hostname(u))
}

// reporter is the common part of *testing.T and *rapid.T.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}
