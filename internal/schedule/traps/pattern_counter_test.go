package traps

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// admit returns how many of n URLs are admitted, and why the others are not.
func admit(s *PatternCounter, l *Limits, n int, url func(i int) string) (int, map[Reason]int) {
	admitted, kept := 0, map[Reason]int{}
	for i := range n {
		if r := s.Admit(url(i), l); r != "" {
			kept[r]++
		} else {
			admitted++
		}
	}
	return admitted, kept
}

func TestKeys(t *testing.T) {
	const uuid = "550e8400-e29b-41d4-a716-446655440000"
	for _, c := range []struct {
		a, b         string
		fine, coarse bool // whether the keys are equal
	}{
		{"/item/1", "/item/22", true, true},
		{"/item-1-x.html", "/item-345-x.html", true, true},
		{"/item/1", "/item/x", false, true},
		{"/a/b.html", "/c/d.html", false, true},
		{"/a/b.html", "/a/b.pdf", false, false},
		{"/a/b", "/a/b/", false, true},
		{"/a/b", "/a/b/c", false, false},
		{"/a/v1.2", "/a/v1.3", true, true},
		{"/a/3f2a9c1d", "/a/77ab01cc", true, true},
		{"/a/deadbeef01-x", "/a/0123abcdef-x", true, true},
		{"/a/" + uuid, "/a/00000000-0000-0000-0000-000000000000", true, true},
		{"/a/" + uuid + "x", "/a/00000000-0000-0000-0000-000000000000x", false, true},
		{"/a/aGVsbG8gV29ybGQhIQ", "/a/Zm9vYmFyQmF6UXV4WA", true, true},
		{"/a/cat", "/a/dog", false, true},
		{"/%D0%BF%D1%80", "/%D0%BA%D1%82", false, true},
		{"/a?x=1&y=2", "/a?y=3&x=4", true, true},
		{"/a?x=1", "/a?y=1", false, false},
		{"/a?x=1", "/a", false, false},
		{"/a?x=1&x=2", "/a?x=3", true, true},
		{"/a?f1=1", "/a?f22=1", true, true},
		{"/a?4711-title", "/a?17-other", true, true},
		{"/a?3f2a9c1d=", "/a?77ab01cc=", true, true},
		{"/a/", "/b/", false, true},
		{"/", "/a", false, false},
	} {
		a, b := keysOf(site+c.a), keysOf(site+c.b)
		if a.fine == b.fine != c.fine || a.coarse == b.coarse != c.coarse {
			t.Errorf("%s and %s: fine %v, coarse %v", c.a, c.b, a.fine == b.fine, a.coarse == b.coarse)
		}
		if other := keysOf("http://other.example" + c.a); other.fine == a.fine || other.coarse == a.coarse || other.path != 0 && other.path == a.path {
			t.Errorf("%s is the same on another host", c.a)
		}
		if k := keysOf("http" + site[len("https"):] + c.a); k != a {
			t.Errorf("%s is another without TLS", c.a)
		}
	}
}

func TestSameShape(t *testing.T) {
	l := Limits{MaxSameShape: 1000}
	s := NewPatternCounter()
	n, kept := admit(s, &l, 1500, func(i int) string { return fmt.Sprintf("%s/day/%d/x", site, i) })
	if n != 1000 || kept[SameShape] != 500 {
		t.Errorf("%d admitted, %v", n, kept)
	}
	for _, path := range []string{"/day/1/y", "/day/1", "/day/1/x?p=1"} {
		if r := s.Admit(site+path, &l); r != "" {
			t.Errorf("%s: %s", path, r)
		}
	}
	if r := s.Admit("http://other.example/day/1/x", &l); r != "" {
		t.Errorf("another host: %s", r)
	}
	l.MaxSameShape = 1100
	if n, _ := admit(s, &l, 500, func(i int) string { return fmt.Sprintf("%s/day/%d/x", site, 5000+i) }); n != 100 {
		t.Errorf("a greater limit: %d more", n)
	}
}

func TestParameterSets(t *testing.T) {
	set := func(i int) string { return fmt.Sprintf("%s/shop?f%d=1&g%d=1", site, i/40, i%40) }
	for _, limit := range []int{1, 4, 5, 20, 100} {
		n, kept := admit(NewPatternCounter(), &Limits{MaxParameterSets: limit}, 500, set)
		if n < limit || n > limit+limit/25 || kept[ParameterSets] != 500-n {
			t.Errorf("limit %d: %d admitted, %v", limit, n, kept)
		}
	}
	l := Limits{MaxParameterSets: 100}
	s := NewPatternCounter()
	for i := range 1000 {
		s.Admit(set(i), &l)
	}
	for path, want := range map[string]Reason{
		"/shop?f0=7&g3=8": "", "/shop?g3=8&f0=7": "", "/shop?new=1": ParameterSets, "/shop?f0=1": ParameterSets,
		"/shop": "", "/other?new=1": "", "/shop/?new=1": "",
	} {
		if got := s.Admit(site+path, &l); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	// Values without names, or with random names, are one set.
	for _, form := range []string{"/showthread.php?%d-a-title", "/x?%016x=", "/y?%d", "/z?page=%d"} {
		n, _ := admit(s, &l, 1000, func(i int) string { return site + fmt.Sprintf(form, 1000+i*7919) })
		if n != 1000 {
			t.Errorf("%s: %d", form, n)
		}
	}
	if n, _ := admit(NewPatternCounter(), &Limits{MaxParameterSets: 5000}, 8000, func(i int) string {
		return fmt.Sprintf("%s/shop?f%d=1", site, i)
	}); n != 8000 {
		t.Errorf("a limit that cannot be counted: %d", n)
	}
}

// A set of names has one key, however many names it has, in any order and with any repetition.
func TestParameterSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := rapid.SliceOfNDistinct(rapid.IntRange(0, 200), rapid.IntRange(1, 100).Draw(t, "n"), 100, rapid.ID[int]).Draw(t, "names")
		again := rapid.SliceOf(rapid.SampledFrom(once)).Draw(t, "repeated")
		url := func(names []int) string {
			parts := make([]string, len(names))
			for i, n := range names {
				parts[i] = fmt.Sprintf("n%d=%d", n, i)
			}
			return site + "/shop?" + strings.Join(parts, "&")
		}
		all := rapid.Permutation(append(again, once...)).Draw(t, "all")
		if keysOf(url(once)) != keysOf(url(all)) {
			t.Errorf("%s has other keys than %s", url(all), url(once))
		}
	})
}

func TestSameContent(t *testing.T) {
	l := Limits{SameContentAfter: 300}
	fetch := func(s *PatternCounter, n, distinct int) {
		for i := range n {
			s.Fetched(fmt.Sprintf("%s/a/w%d", site, i), 1+mix(uint64(i%distinct), 99))
		}
	}
	for _, c := range []struct {
		n, distinct int
		want        Reason
	}{
		{299, 1, ""}, {300, 1, SameContent}, {300, 25, SameContent}, {400, 60, ""}, {10_000, 1500, ""}, {10_000, 700, SameContent},
		{10_000, 10_000, ""}, {100_000, 50_000, ""}, {100_000, 5, SameContent}, {500, 45, SameContent},
	} {
		s := NewPatternCounter()
		fetch(s, c.n, c.distinct)
		if got := s.Admit(site+"/b/c", &l); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.distinct, c.n, got, c.want)
		}
		if got := s.Exhausted(site+"/b/c", &l); got != c.want {
			t.Errorf("%d of %d: exhausted %q, want %q", c.distinct, c.n, got, c.want)
		}
		for _, other := range []string{site + "/b", site + "/b/c.html", site + "/b/c?x=1", "http://other.example/b/c"} {
			if got := s.Admit(other, &l); got != "" {
				t.Errorf("%s: %q", other, got)
			}
		}
	}
	s := NewPatternCounter()
	for range 1000 {
		s.Fetched(site+"/a/b", 0)
	}
	if got := s.Admit(site+"/b/c", &l); got != "" {
		t.Errorf("unknown content: %q", got)
	}
	if got := s.Exhausted(site+"/b/c", &Limits{}); got != "" {
		t.Errorf("off: %q", got)
	}
}

func TestTwin(t *testing.T) {
	for _, c := range []struct {
		path, want string
		ok         bool
	}{
		{"/", "/", false},
		{"/a?x=1", "/a?x=1", false},
		{"/a?x=1&x=1", "/a?x=1&x=1", false},
		{"/a?a=1&b=2", "/a?a=1&b=2", true},
		{"/a?b=2&a=1", "/a?a=1&b=2", true},
		{"/a?c=3&a=1&b=2", "/a?a=1&b=2&c=3", true},
		{"/a?b=2&c=3&a=1", "/a?a=1&b=2&c=3", true},
		{"/a?a=2&a=1", "/a?a=1&a=2", true},
		{"/a?b&a", "/a?a&b", true},
		{"/a?b=1&&a=1", "/a?&a=1&b=1", true},
	} {
		if got, ok := SortQuery(site + c.path); got != site+c.want || ok != c.ok {
			t.Errorf("%s: %q, %v", c.path, got, ok)
		}
	}
}

// TestTwinOfAnyOrder: all orders have the same twin, other parameters have another.
func TestTwinOfAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.StringMatching(`[a-c]=[0-2]`), 2, 30).Draw(t, "parameters")
		a, _ := SortQuery(site + "/?" + strings.Join(ps, "&"))
		b, _ := SortQuery(site + "/?" + strings.Join(rapid.Permutation(ps).Draw(t, "order"), "&"))
		if a != b {
			t.Errorf("%q and %q", a, b)
		}
		if c, _ := SortQuery(site + "/?" + strings.Join(append(ps, "d=1"), "&")); c == a {
			t.Errorf("%q with another parameter", a)
		}
	})
}

// TestRestoreInAnyOrder: state restored from records, in another order and in two halves, decides
// like the state that kept counting.
func TestRestoreInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{MaxParameterSets: 8, MaxSameShape: 40, SameContentAfter: 30}
		type entry struct {
			url     string
			content uint64
		}
		var entries []entry
		live := NewPatternCounter()
		for range rapid.IntRange(0, 300).Draw(t, "n") {
			url := site + rapid.StringMatching(`/[ab](/[0-9]{1,3})?(\?[a-d]=1(&[e-g]=1)?)?`).Draw(t, "url")
			if live.Admit(url, &l) != "" {
				continue
			}
			content := uint64(rapid.IntRange(0, 4).Draw(t, "content"))
			live.Fetched(url, content)
			entries = append(entries, entry{url, content})
		}
		restored, rest := NewPatternCounter(), NewPatternCounter()
		for i, e := range rapid.Permutation(entries).Draw(t, "order") {
			if i%2 == 0 {
				restored.Restore(e.url, e.content, true)
			} else {
				rest.Restore(e.url, e.content, true)
			}
		}
		restored.Merge(rest)
		for _, path := range []string{"/a", "/a/9", "/b/77", "/a?a=1", "/a?new=1", "/b/5?d=1&g=1", "/b/5?h=1"} {
			if a, b := live.Admit(site+path, &l), restored.Admit(site+path, &l); a != b {
				t.Errorf("%s: %q, restored %q", path, a, b)
			}
		}
	})
}

// TestTableKeepsWhatIsFrequent floods a table with keys that occur once.
func TestTableKeepsWhatIsFrequent(t *testing.T) {
	tab := newTable[uint32](1024)
	r := rand.New(rand.NewPCG(1, 2))
	const rounds, heavy = 2_000_000, 40
	for i := range rounds {
		key := nonZero(mix(r.Uint64(), 1))
		if i%10 == 0 {
			key = mix(uint64(i/10%heavy), 3) // each is 1 in 400
		}
		if n := tab.touch(key); n != nil {
			*n++
		}
	}
	lost := 0
	for k := range uint64(heavy) {
		n := tab.find(mix(k, 3))
		if n == nil || *n < rounds/10/heavy*9/10 {
			lost++
		}
		if n != nil && *n > rounds/10/heavy {
			t.Errorf("key %d counted %d times", k, *n)
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d frequent keys lost", lost, heavy)
	}
	if len(tab.keys) != 1024 {
		t.Errorf("%d entries", len(tab.keys))
	}
}

// TestErrorAtAMillion tests the default limits with a million URLs of a partition: ordinary sites
// are not affected, and traps are still detected.
func TestErrorAtAMillion(t *testing.T) {
	s := NewPatternCounter()
	l := defaults
	l.MaxSameShape = 20_000
	r := rand.New(rand.NewPCG(7, 7))
	words := make([]string, 5000)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", mix(uint64(i), 1)>>44)
	}
	word := func() string { return words[r.IntN(len(words))] }
	kept := map[string]map[Reason]int{}
	count := func(kind, url string, content uint64) {
		reason := s.Admit(url, &l)
		if reason == "" && s.Exhausted(url, &l) == "" {
			s.Fetched(url, content)
		}
		if kept[kind] == nil {
			kept[kind] = map[Reason]int{}
		}
		kept[kind][reason]++
	}
	for i := range 1_000_000 {
		host := fmt.Sprintf("http://h%d.example", r.IntN(1500))
		switch r.IntN(8) {
		case 0:
			count("item", fmt.Sprintf("%s/item.php?id=%d&l=en", host, i), r.Uint64())
		case 1:
			count("page", fmt.Sprintf("%s/%s/?page=%d", host, word(), i), r.Uint64())
		default:
			count("slug", fmt.Sprintf("%s/%s/%s-%s.html", host, word(), word(), word()), r.Uint64())
		}
		if i%10 == 0 {
			count("soft", fmt.Sprintf("http://soft.example/%s/%s", word(), word()), 5)
			count("days", fmt.Sprintf("http://days.example/day/%d", i), r.Uint64())
			count("facets", fmt.Sprintf("http://shop.example/list?a%d=1&b%d=1", r.IntN(60), r.IntN(60)), r.Uint64())
		}
	}
	for kind, reasons := range kept {
		t.Log(kind, reasons)
	}
	for _, kind := range []string{"item", "page", "slug"} {
		if len(kept[kind]) != 1 {
			t.Errorf("%s: %v", kind, kept[kind])
		}
	}
	if n := kept["soft"][""]; n > 400 {
		t.Errorf("soft: %d admitted", n)
	}
	if n := kept["days"][""]; n < 20_000 || n > 22_000 {
		t.Errorf("days: %d admitted", n)
	}
	if n := kept["facets"][""]; n > 5000 {
		t.Errorf("facets: %v", kept["facets"])
	}
	if n := memory(s); n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
}

func memory(s *PatternCounter) int {
	size := func(keys, lives, vals, each int) int { return keys*8 + lives + vals*each }
	return size(len(s.fine.keys), len(s.fine.lives), len(s.fine.vals), 4) +
		size(len(s.sets.keys), len(s.sets.lives), len(s.sets.vals), int(unsafe.Sizeof(smallSet{}))) +
		size(len(s.coarse.keys), len(s.coarse.lives), len(s.coarse.vals), int(unsafe.Sizeof(content{})))
}

func TestMemory(t *testing.T) {
	s := NewPatternCounter()
	for i := range 10 {
		url := fmt.Sprintf("%s/%d?a=%d", site, i, i)
		s.Admit(url, &defaults)
		s.Fetched(url, uint64(i+1))
	}
	if n := memory(s); n > 5<<10 {
		t.Errorf("ten URLs take %d bytes", n)
	}
	full := maxFine*13 + maxSets*(49+2*defaults.MaxParameterSets) + maxCoarse*81
	t.Logf("ten URLs %d bytes, at most %d", memory(s), full)
	if full > 1<<20+1<<16 {
		t.Errorf("at most %d bytes", full)
	}
}

func TestShapesDoNotAllocate(t *testing.T) {
	s := NewPatternCounter()
	for i := range 20_000 {
		s.Admit(benchURL(i), &defaults)
		s.Fetched(benchURL(i), mix(uint64(i), 1))
	}
	urls := make([]string, 1000)
	for i := range urls {
		urls[i] = benchURL(1_000_000 + i)
	}
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		url := urls[i%len(urls)]
		s.Admit(url, &defaults)
		s.Exhausted(url, &defaults)
		s.Fetched(url, 1)
		SortQuery("http://a.example/?a=1&b=2")
		i++
	}); n > 0.1 { // a table grows occasionally
		t.Errorf("%.2f allocations", n)
	}
}

func benchURL(i int) string {
	switch i % 4 {
	case 0:
		return fmt.Sprintf("https://www.h%d.example/shop/item.php?id=%d&colour=red", i%997, i)
	case 1:
		return fmt.Sprintf("https://www.h%d.example/news/2026/11/21/some-title-of-words-%d.html", i%991, i)
	}
	return fmt.Sprintf("https://www.h%d.example/section-%x/%x-%x.html", i%1009, mix(uint64(i), 1)>>52, mix(uint64(i), 2)>>40, i)
}

func benchURLs(n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = benchURL(i)
	}
	return urls
}

func BenchmarkAdmit(b *testing.B) {
	urls := benchURLs(1 << 18)
	s := NewPatternCounter()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Admit(urls[i%len(urls)], &defaults)
	}
}

// BenchmarkNewURL measures the frontier's calls for a new URL and its page.
func BenchmarkNewURL(b *testing.B) {
	urls := benchURLs(1 << 18)
	s := NewPatternCounter()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		url := urls[i%len(urls)]
		Check(url, &defaults, today)
		SortQuery(url)
		s.Admit(url, &defaults)
		s.Exhausted(url, &defaults)
		s.Fetched(url, mix(uint64(i), 1))
	}
}

func BenchmarkFetched(b *testing.B) {
	urls := benchURLs(1 << 18)
	s := NewPatternCounter()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Fetched(urls[i%len(urls)], mix(uint64(i), 1))
	}
}
