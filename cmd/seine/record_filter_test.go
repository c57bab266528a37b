package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCatOfSomeRecords(t *testing.T) {
	const (
		page1  = `{"url":"https://a.test/1","crawl":"a","title":"old"}` + "\n"
		page2  = `{"url":"https://a.test/2","crawl":"a"}` + "\n"
		other  = `{"url":"https://a.test/1","crawl":"b"}` + "\n"
		item   = `{"kind":"item","url":"https://a.test/1","crawl":"a","key":"k"}` + "\n"
		second = `{"kind":"item","url":"https://a.test/1","crawl":"a","key":"l"}` + "\n"
		moved  = `{"kind":"item","url":"https://a.test/2","crawl":"a","key":"k"}` + "\n"
		newer  = `{"url":"https://a.test/1","crawl":"a","title":"new"}` + "\n"
		nobody = `{"n":1}` + "\n"
	)
	dir := t.TempDir()
	for name, text := range map[string]string{"1.jsonl": page1 + page2 + other + item + nobody, "2.jsonl": second + moved + newer + nobody} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"crawl":           {[]string{"--crawl", "b"}, other},
		"pages":           {[]string{"--kind", "page"}, page1 + page2 + other + nobody + newer + nobody},
		"kind":            {[]string{"--kind", "item"}, item + second + moved},
		"latest":          {[]string{"--latest"}, page2 + other + nobody + second + moved + newer + nobody},
		"latest of those": {[]string{"--latest", "--crawl", "a", "--kind", "page"}, page2 + newer},
		"none gone":       {[]string{"--kind", "gone"}, ""},
	} {
		if got := want(t, exitOK, append([]string{"cat", dir}, tt.args...)); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, tt := range []struct{ flags, says string }{
		{"--crawl c", "--crawl c: no record is of it; there are a, b"},
		{"--kind itme", "--kind itme: no record is of it; did you mean item? there are item, page"},
		{"--crawl b --kind item --latest", "--kind item: no record is of it; there are page"},
	} {
		if got := want(t, exitUsage, append([]string{"cat", dir}, strings.Fields(tt.flags)...), tt.says); got != "" {
			t.Errorf("%s: %s", tt.flags, got)
		}
	}
	want(t, exitUsage, []string{"cat", t.TempDir(), "--kind", "item"}, "--kind item: no record is of it; none exist")
}

// Of a page that was found gone, and not found since, there is no latest record. What was
// made of it before stands in the output still, and what a replay has made of that later.
func TestLatestRecordsAreOfPagesThatAreThere(t *testing.T) {
	line := func(kind, url, key, at string) string {
		s := `"url":"https://a.test/` + url + `","crawl":"a"`
		if kind != "page" {
			s = `"kind":"` + kind + `",` + s
		}
		if key != "" {
			s += `,"key":"` + key + `"`
		}
		if at != "" {
			s += `,"fetched_at":"2026-11-2` + at + `T01:00:00.5Z"`
		}
		return "{" + s + "}\n"
	}
	var (
		stays    = line("item", "1", "k1", "1")
		goes     = line("item", "2", "k2", "1")
		gone     = line("gone", "2", "", "2")
		replayed = line("item", "2", "k2", "1")
		left     = line("item", "3", "k3", "1")
		away     = line("gone", "3", "", "2")
		back     = line("item", "3", "k3", "3")
		page     = line("page", "2", "", "1")
		two      = line("item", "4", "k5", "1") // the same is on 5, which goes
		too      = line("item", "5", "k5", "2")
		no5      = line("gone", "5", "", "3")
		mute     = line("item", "6", "k6", "") // does not say when
		no6      = line("gone", "6", "", "2")
		again    = line("item", "6", "k7", "")
	)
	all := stays + goes + page + left + two + too + mute + gone + away + no5 + no6 + replayed + back + again
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "1.jsonl"), []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"all":          {nil, all},
		"latest":       {[]string{"--latest"}, stays + two + back + again},
		"latest items": {[]string{"--latest", "--kind", "item"}, stays + two + back + again},
		"latest pages": {[]string{"--latest", "--kind", "page"}, ""},
		"what is gone": {[]string{"--latest", "--kind", "gone"}, gone + no5},
		"what was":     {[]string{"--kind", "gone"}, gone + away + no5 + no6},
	} {
		if got := want(t, exitOK, append([]string{"cat", dir}, tt.args...)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A page has what its last visit found there: a record without a key that an earlier one
// found is not there any more, and one of the same place is another. A replay replaces what
// was made of its visit before, with a key or without.
func TestLatestPartsAreOfTheLastVisit(t *testing.T) {
	line := func(kind, key, visit, text string) string {
		s := `"url":"https://a.test/","fetched_at":"2026-11-2` + visit + `T01:00:00.5Z","crawl":"a","visit":"v.` + visit + `"`
		if kind != "page" {
			s = `"kind":"` + kind + `",` + s
		}
		if key != "" {
			s += `,"key":"` + key + `"`
		}
		return "{" + s + `,"text":"` + text + "\"}\n"
	}
	generation := func(line, name string) string {
		return strings.TrimSuffix(line, "}\n") + `,"generation":"` + name + "\"}\n"
	}
	var (
		old      = line("chunk", "", "1", "one") + line("chunk", "", "1", "two") + line("chunk", "", "1", "three") + line("page", "", "1", "")
		note     = line("note", "", "1", "gone from the page")
		keyed    = line("part", "k1", "1", "may be elsewhere")
		page     = line("page", "", "2", "")
		first    = line("chunk", "", "2", "one") + line("chunk", "", "2", "2")
		late     = line("chunk", "", "1", "made late of an old visit")
		again    = generation(line("chunk", "", "2", "all of it"), "g2")
		nameless = `{"url":"https://b.test/","text":"a"}` + "\n"
		wrong    = line("part", "wrong", "2", "x") + line("part", "k2", "2", "x")
		beside   = strings.ReplaceAll(line("part", "wrong", "1", "y"), "a.test", "b.test")
		mended   = generation(line("part", "right", "2", "x"), "g2") + generation(line("part", "k2", "2", "x"), "g2")
		again3   = generation(line("part", "k3", "2", "x"), "g3")
	)
	for name, tt := range map[string]struct{ all, want, chunks string }{
		"visits":              {old + note + keyed + first + page + late, keyed + first + page, first},
		"emptied":             {old + note + keyed + page, keyed + page, ""},
		"replayed":            {old + first + page + again, page + again, again},
		"replayed to nothing": {first + page + generation(page, "g2"), generation(page, "g2"), ""},
		"only once":           {old + note, old + note, line("chunk", "", "1", "one") + line("chunk", "", "1", "two") + line("chunk", "", "1", "three")},
		"mended":              {keyed + first + wrong + mended, keyed + mended, ""},
		"shared":              {beside + wrong + mended + first, beside + mended, ""},
		"twice":               {wrong + mended + first + again3, again3, ""},
		"few names":           {nameless + first + nameless, first + nameless, first},
	} {
		file := filepath.Join(t.TempDir(), "1.jsonl")
		if err := os.WriteFile(file, []byte(tt.all), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := want(t, exitOK, []string{"cat", file, "--latest"}); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if got := want(t, exitOK, []string{"cat", file, "--latest", "--kind", "chunk"}); got != tt.chunks {
			t.Errorf("%s: the chunks: %s, want %s", name, got, tt.chunks)
		}
	}
}
