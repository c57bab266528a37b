package robots

import (
	"strings"
	"testing"
	"time"
)

func FuzzDirectives(f *testing.F) {
	f.Add("noindex, otherbot: nofollow", "seine: none")
	f.Add("unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, nofollow", "max-image-preview: none")
	f.Add("seine/1:,,unavailable_after:2010-06-25t15:00z", "*:noindex x:\tnone")
	f.Fuzz(func(t *testing.T, a, b string) {
		read := func(values ...string) Directives { return HeaderDirectives(values, "seine", fetched) }
		one, both := read(a), read(a, b)
		if sum := addUp(one, read(b)); both != sum {
			t.Errorf("%q and %q: %+v together, %+v one by one", a, b, both, sum)
		}
		if got := read("noarchive, seine: " + a); got != one {
			t.Errorf("%q: %+v by name, %+v without", a, got, one)
		}
		if got := read("otherbot: " + a); addUp(got, one) != one {
			t.Errorf("%q: %+v for another, %+v for all", a, got, one)
		}
		if got := read("otherbot: " + strings.ReplaceAll(a, ":", " ")); got != nothing {
			t.Errorf("%q: %+v for another", a, got)
		}
		if got := HeaderDirectives([]string{a}, "seine", time.Unix(0, 0)); addUp(got, one) != one {
			t.Errorf("%q: %+v before, %+v later", a, got, one)
		}
		wantSameMeta(t, a, one)
		wantSameCase(t, a, one)
	})
}

// wantSameMeta checks that header and meta element use the same words: they differ only where a
// crawler may be named.
func wantSameMeta(t *testing.T, text string, want Directives) {
	t.Helper()
	got := MetaDirectives(text, fetched)
	if !strings.Contains(text, ":") && got != want || addUp(got, want) != got {
		t.Errorf("%q: %+v in a meta element, %+v in a header", text, got, want)
	}
}

func wantSameCase(t *testing.T, text string, want Directives) {
	t.Helper()
	upper := []byte(text)
	for i, c := range upper {
		if 'a' <= c && c <= 'z' {
			upper[i] = c - 'a' + 'A'
		}
	}
	if got := HeaderDirectives([]string{string(upper)}, "seine", fetched); got != want {
		t.Errorf("%q: %+v, %+v in capitals", text, want, got)
	}
}

func addUp(a, b Directives) Directives {
	return Directives{NoIndex: a.NoIndex || b.NoIndex, NoFollow: a.NoFollow || b.NoFollow}
}
