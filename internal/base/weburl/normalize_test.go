package weburl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	md5Like = "9682993c8daa2c5497996114facdc805"
	ticket  = "lit3py55t21z5v55vlm25s55"
)

// TestNormalize is the specification of the crawl-level form: what each option removes from a
// canonical URL. An empty second column means that the URL stays as it is.
func TestNormalize(t *testing.T) {
	tracking := NormalizeOptions{DropTracking: true}
	sessions := NormalizeOptions{DropSessions: true}
	drop := func(names ...string) NormalizeOptions { return NormalizeOptions{DropParameters: names} }
	for _, group := range []struct {
		rule    string
		options NormalizeOptions
		cases   [][2]string // without "https://example.org"
	}{
		{"no option changes nothing", NormalizeOptions{}, [][2]string{
			{"/?utm_source=x&PHPSESSID=" + md5Like, ""},
			{"/a;jsessionid=1/(S(" + ticket + "))/?b&a", ""},
		}},
		{"tracking parameters go, whatever their value", tracking, [][2]string{
			{"/a?utm_source=x", "/a"},
			{"/a?utm_source=x&utm_medium=y&utm_anything=z", "/a"},
			{"/a?id=1&gclid=x", "/a?id=1"},
			{"/a?gclid=x&id=1", "/a?id=1"},
			{"/a?x=1&fbclid=x&y=2", "/a?x=1&y=2"},
			{"/a?fbclid", "/a"},
			{"/a?fbclid=", "/a"},
			{"/?_ga=2.1.3.4-5&_gl=1*a*b&srsltid=x&ysclid=x&mc_eid=x&_openstat=x", "/"},
		}},
		{"the case of their names does not matter", tracking, [][2]string{
			{"/a?UTM_Source=x&GCLID=y&hsctatracking=z&HSCTATRACKING=z", "/a"},
		}},
		{"only whole names count, and only of parameters", tracking, [][2]string{
			{"/a?xutm_source=1&utm=2&gclid2=3&mygclid=4", ""},
			{"/a?q=gclid&r=utm_source=x", ""},
			{"/gclid=1/utm_source=x", ""},
			{"/a?x=1;gclid=2", ""},
			{"/a?ref=1&source=2&cid=3&sid=4&id=5", ""},
		}},
		{"a name is compared as it is in a canonical URL, which has no needless escapes", tracking, [][2]string{
			{"/a?%utm_source=x&+gclid=x&utm%2Bsource=x", ""},
		}},
		{"a mail shown on the web is chosen by its token", tracking, [][2]string{
			{"/a?mkt_tok=x", "/a"},
			{"/index.php/email/emailWebview?mkt_tok=x", ""},
		}},
		{"what stays, stays as it is", tracking, [][2]string{
			{"/a?b&&c=&=d&=&gclid=x&&e==f&%zz", "/a?b&&c=&=d&=&&e==f&%zz"},
			{"/a?gclid=x&", "/a"}, // a query of one empty parameter is removed
			{"/a?&gclid=x", "/a"},
			{"/a?&gclid=x&", "/a?&"},
			{"/a??gclid=x", ""},
			{"/a?z=1&a=2&gclid=x&z=0", "/a?z=1&a=2&z=0"},
		}},
		{"session ids in queries go", sessions, [][2]string{
			{"/a?PHPSESSID=x", "/a"},
			{"/a?phpsessid=" + md5Like + "&b=1", "/a?b=1"},
			{"/a?JSESSIONID=1.node2&b=1", "/a?b=1"},
			{"/a?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM", "/a"},
			{"/a?zenid=x&osCsid=y&xtcsid=z", "/a"},
		}},
		{"where a name has other uses, the value must look like a session id", sessions, [][2]string{
			{"/a?sid=" + md5Like, "/a"},
			{"/a?s=" + strings.ToUpper(md5Like) + "&t=1", "/a?t=1"},
			{"/a?s=shoes&sid=12", ""},
			{"/a?sid=" + md5Like + "0&s=" + strings.Replace(md5Like, "a", "g", 1), ""},
			{"/a?sessionid=EOHBLBDDPFCLHKPG&session_id=0123456789abcdef", "/a"},
			{"/a?sessionid=12&session_id=a-talk-about-sessions", ""},
			{"/a?CFID=12&CFTOKEN=34-ab&b=1", "/a?b=1"},
			{"/a?cfid=12", ""},
			{"/a?cfid=12&b=1&cftoken=34", "/a?cfid=12&b=1"},
		}},
		{"jsessionid goes from any segment", sessions, [][2]string{
			{"/a;jsessionid=1A2B", "/a"},
			{"/a;jsessionid=1A2B.node1?b=1", "/a?b=1"},
			{"/a;JSESSIONID=x!-12!34/b;jsessionid=y/c", "/a/b/c"},
			{"/a;v=1;jsessionid=x;w=2", "/a;v=1;w=2"},
			{"/a;jsessionid=", "/a"},
			{"/;jsessionid=x", "/"},
			{"/a/;jsessionid=x/b", "/a//b"},
			{"/a;jsessionid=x?jsessionid=y", "/a"},
		}},
		{"what only resembles jsessionid stays", sessions, [][2]string{
			{"/a;v=1", ""},
			{"/a;jsessionid", ""},
			{"/a;xjsessionid=1/jsessionid=2", ""},
			{"/a;jsessionid=1&id=2", ""},   // a query without its "?"
			{"/a;jsessionid=1%3Fid=2", ""}, // the same, encoded
			{"/b/..;jsessionid=1/c", ""},   // would become a dot segment
			{"/b/.;v;jsessionid=1/c", "/b/.;v/c"},
		}},
		{"tickets of ASP.NET go where a segment follows", sessions, [][2]string{
			{"/app/(S(" + ticket + "))/a.aspx", "/app/a.aspx"},
			{"/(S(" + ticket + "))/?b=1", "/?b=1"},
			{"/(X(1)S(" + ticket + "))/a/(S(" + ticket + "))/b", "/a/b"},
			{"/(A(x-Y_z)F(w)S(" + ticket + "))/", "/"},
			{"/(S(" + ticket + "))", ""},
			{"/(S(" + ticket + ")/(S(" + ticket[1:] + "))/(X(1))/(T(1)S(" + ticket + "))/()/(/)/(S)/", ""},
			{"/wiki/(F(x))/a_(b)/S(" + ticket + ")/", ""},
		}},
		{"further parameters by name, with their case", drop("ref", "View"), [][2]string{
			{"/a?ref=1&b=2&ref", "/a?b=2"},
			{"/a?Ref=1&view=2&ref_=3&refs=4", ""},
			{"/a?View=1", "/a"},
		}},
		{"further parameters by the start of their name", drop("ref_*"), [][2]string{
			{"/a?ref_=1&ref_src=2&b=3", "/a?b=3"},
			{"/a?ref=1&Ref_src=2", ""},
		}},
		{"a name with characters that are always encoded is given plain or encoded", drop("größe", "a b", "c%22d"), [][2]string{
			{"/a?gr%C3%B6%C3%9Fe=1&a%20b=2&c%22d=3", "/a"},
			{"/a?a+b=1", ""},
		}},
		{"a name with characters that may be encoded is given both ways", drop("f[*"), [][2]string{
			{"/a?f[x]=1&f%5Bx%5D=1", "/a?f%5Bx%5D=1"},
		}},
		{"* alone drops queries", drop("*"), [][2]string{
			{"/a?b=1&&=c&d", "/a"},
			{"/a", ""},
		}},
		{"names that cannot be are of no use, and do no harm", drop("", "a&b", "a=b", "%"), [][2]string{
			{"/?a&b&a=b&=x", ""},
			{"/?a&%=1&b", "/?a&b"},
		}},
		{"sorting is by name, and keeps the order of values", NormalizeOptions{SortQuery: true}, [][2]string{
			{"/a?b=1&a=2", "/a?a=2&b=1"},
			{"/a?b=2&a&b=1&a=0&b", "/a?a&a=0&b=2&b=1&b"},
			{"/a?a=2&a=1", ""},
			{"/a?a=1&a-b=2&a.c", ""}, // the name decides, not the whole text
			{"/a?a-b=2&a=1", "/a?a=1&a-b=2"},
			{"/a?b&B&%41%26&=", "/a?=&%41%26&B&b"},
			{"/a?b&&a", "/a?&a&b"},
		}},
		{"all together", NormalizeOptions{DropTracking: true, DropSessions: true, DropParameters: []string{"x"}, SortQuery: true}, [][2]string{
			{"/a;jsessionid=1/(S(" + ticket + "))/b?z=1&utm_source=x&x=y&sid=" + md5Like + "&a=2", "/a/b?a=2&z=1"},
			{"/", ""},
		}},
	} {
		t.Run(group.rule, func(t *testing.T) {
			n := NewNormalizer(group.options)
			for _, c := range group.cases {
				const origin = "https://example.org"
				u, want := origin+c[0], origin+c[1]
				if c[1] == "" {
					want = u
				}
				if got := n.Normalize(u); got != want {
					t.Errorf("Normalize(%q) = %q, want %q", u, got, want)
				}
				if !strings.Contains(c[0], "%41") { // %41 is not canonical
					checkNormal(t, n, group.options, u)
				}
			}
		})
	}
}

// checkNormal checks the invariants for every canonical URL.
func checkNormal(t reporter, n *Normalizer, o NormalizeOptions, u string) {
	t.Helper()
	got := n.Normalize(u)
	if again := n.Normalize(got); again != got {
		t.Errorf("%+v: Normalize(%q) = %q, and that gives %q", o, u, got, again)
	}
	if c, err := Canonicalize(got); err != nil || c != got {
		t.Errorf("%+v: Normalize(%q) = %q, which is not canonical: %q, %v", o, u, got, c, err)
	}
	if Origin(got) != Origin(u) || len(got) > len(u) {
		t.Errorf("%+v: Normalize(%q) = %q: another origin, or longer", o, u, got)
	}
	_, before, _ := strings.Cut(u, "?")
	_, after, _ := strings.Cut(got, "?")
	if o.SortQuery {
		checkSorted(t, after)
	} else if !isPart(strings.Split(after, "&"), strings.Split(before, "&")) {
		t.Errorf("%+v: Normalize(%q) = %q: not what stayed, in its order", o, u, got)
	}
}

func checkSorted(t reporter, query string) {
	t.Helper()
	if !slices.IsSortedFunc(strings.Split(query, "&"), compareNames) {
		t.Errorf("query %q is not sorted", query)
	}
}

// isPart reports whether some equals all or a part of it.
func isPart(some, all []string) bool {
	if len(some) == 1 && some[0] == "" { // no query
		return true
	}
	for _, s := range some {
		i := slices.Index(all, s)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

func TestNormalizerOfNothingIsNil(t *testing.T) {
	if n := NewNormalizer(NormalizeOptions{DropParameters: []string{""}}); n != nil {
		t.Errorf("got %v, want nil", n)
	}
	var n *Normalizer
	if u := "https://example.org/?utm_source=x"; n.Normalize(u) != u {
		t.Error("a nil Normalizer changes a URL")
	}
}

// TestNormalizeDoesNotAllocate tests URLs to which no option applies, which are returned as the
// same string.
func TestNormalizeDoesNotAllocate(t *testing.T) {
	n := NewNormalizer(allOptions)
	for _, u := range []string{
		"https://example.org/", benchBase, "https://example.org/a;v=1/b/(c)/?a=1&b=2&sid=3&t=%20",
		"https://example.org/?a" + strings.Repeat("&a", 500),
	} {
		if allocs := testing.AllocsPerRun(100, func() { sink = n.Normalize(u) }); allocs != 0 {
			t.Errorf("Normalize(%.60q) allocates %v times, want 0", u, allocs)
		}
	}
	u := benchBase + "&gclid=x&a=1"
	if allocs := testing.AllocsPerRun(100, func() { sink = n.Normalize(u) }); allocs > 1 {
		t.Errorf("Normalize(%q) allocates %v times, want 1", u, allocs)
	}
}

func TestFingerprint(t *testing.T) {
	a := NormalizeOptions{DropTracking: true, DropParameters: []string{"a", "b*", "a"}}
	b := NormalizeOptions{DropTracking: true, DropParameters: []string{"b*", "a"}}
	if a.Fingerprint() != b.Fingerprint() {
		t.Error("order and repetition of parameters make a difference")
	}
	seen := make(map[uint32]NormalizeOptions)
	for _, o := range []NormalizeOptions{
		{}, {DropTracking: true}, {DropSessions: true}, {SortQuery: true}, {DropTracking: true, DropSessions: true},
		{DropParameters: []string{"a"}}, {DropParameters: []string{"A"}}, {DropParameters: []string{"a*"}},
		{DropParameters: []string{"a", "b"}}, {DropParameters: []string{"a\nb"}}, {DropParameters: []string{"*"}},
		a, allOptions,
	} {
		f := o.Fingerprint()
		if other, ok := seen[f]; ok {
			t.Errorf("%+v and %+v have one fingerprint, %08x", o, other, f)
		}
		seen[f] = o
	}
}

// TestDefaultFingerprint fails when the meaning of an option has changed. State with another
// fingerprint is normalised again, which may take a while for a large crawl: change the number here
// if that is intended. A change of code, unlike one of a list, must also increment
// normalizeVersion.
func TestDefaultFingerprint(t *testing.T) {
	const want = 0xcf38b391
	if got := (NormalizeOptions{DropTracking: true, DropSessions: true}).Fingerprint(); got != want {
		t.Errorf("fingerprint %#08x, want %#08x", got, want)
	}
}

// TestParameterLists checks the lists for mistakes.
func TestParameterLists(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range slices.Concat(trackingParameters, sessionParameters) {
		name := strings.ToLower(r.name)
		if seen[name] {
			t.Errorf("%s is listed twice", r.name)
		}
		seen[name] = true
		u := fmt.Sprintf("https://example.org/?%s=x", r.name)
		if c, err := Canonicalize(u); err != nil || c != u || strings.ContainsAny(r.name, "*&=;, ") {
			t.Errorf("%q is no name as it is in canonical URLs", r.name)
		}
	}
}

var allOptions = NormalizeOptions{
	DropTracking: true, DropSessions: true, DropParameters: []string{"ref", "x_*"}, SortQuery: true,
}

// pieces are parts of paths and queries with a meaning here, or nearly.
var pieces = []string{
	"/", "/a", "/.", "/..", "//", ";", ";v=1", ";jsessionid=", ";jsessionid=1A", ";JSessionId=x!1", ";jsession;jsessionid=1id=2",
	"/(S(" + ticket + "))", "/(X(1)S(" + ticket + "))", "(", ")", "/(", "S(", "emailWebview",
	"?", "&", "=", "a", "b=1", "&a=2", "&b", "%", "%41", "%2", "+", "utm_source=x", "&UTM_x", "&gclid=1", "&ref=1", "&x_y=1",
	"&cfid=1", "&cftoken=2", "&sid=" + md5Like, "&s=" + md5Like, "&session_id=", "0123456789abcdef", "&mkt_tok=1", "PHPSESSID=1", "#",
}

// options decodes 5 bits to options.
func options(bits byte, parameter string) NormalizeOptions {
	o := NormalizeOptions{DropTracking: bits&1 != 0, DropSessions: bits&2 != 0, SortQuery: bits&4 != 0}
	if bits&8 != 0 {
		o.DropParameters = append(o.DropParameters, parameter)
	}
	if bits&16 != 0 {
		o.DropParameters = append(o.DropParameters, parameter+"*")
	}
	return o
}

func FuzzNormalize(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range pieces {
		var b strings.Builder
		for range 8 {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		f.Add("https://example.org/"+p+b.String(), byte(rng.UintN(32)), p)
	}
	for _, seed := range seeds {
		f.Add("https://h/"+seed, byte(7), "a")
	}
	f.Fuzz(func(t *testing.T, raw string, bits byte, parameter string) {
		o := options(bits, parameter)
		n := NewNormalizer(o)
		n.Normalize(raw) // must not panic on anything
		if u, err := Canonicalize(raw); err == nil {
			checkNormal(t, n, o, u)
		}
	})
}

// TestNormalizeHolds checks the invariants with URLs composed of pieces.
func TestNormalizeHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 16).Draw(t, "pieces"), "")
		u, err := Canonicalize("https://example.org/" + text)
		if err != nil {
			return
		}
		o := options(rapid.Byte().Draw(t, "options"), rapid.SampledFrom([]string{"", "a", "b", "utm_source", "%"}).Draw(t, "parameter"))
		checkNormal(t, NewNormalizer(o), o, u)
	})
}

// Thousands of crawls have the same few options.
func TestNormalizersWithoutListsAreShared(t *testing.T) {
	o := NormalizeOptions{DropTracking: true, SortQuery: true}
	n := NewNormalizer(o)
	if n != NewNormalizer(o) {
		t.Error("the same options were compiled twice")
	}
	o.SortQuery = false
	if n == NewNormalizer(o) || NewNormalizer(NormalizeOptions{}) != nil {
		t.Error("other options got the same normalizer")
	}
	o.DropParameters = []string{"x"}
	if u := NewNormalizer(o).Normalize("https://a.test/?x=1"); u != "https://a.test/" || NewNormalizer(NormalizeOptions{DropTracking: true}).Normalize("https://a.test/?x=1") == u {
		t.Error("a list of one's own was lost, or shared")
	}
}
