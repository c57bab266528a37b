package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/pkg/messages"
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
		{"--crawl c", "--crawl c: has no records; there are a, b"},
		{"--kind itme", "--kind itme: has no records; did you mean item? there are item, page"},
		{"--crawl b --kind item --latest", "--kind item: has no records; there is page"},
	} {
		if got := want(t, exitUsage, append([]string{"cat", dir}, strings.Fields(tt.flags)...), tt.says); got != "" {
			t.Errorf("%s: %s", tt.flags, got)
		}
	}
	for _, flag := range []string{"--kind=item", "--crawl=a"} { // a crawl that has just started
		if got := want(t, exitOK, []string{"cat", t.TempDir(), flag}); got != "" {
			t.Errorf("without records, %s: %s", flag, got)
		}
	}
}

// visitOf returns the visit of a page in a round, in the form of records.
func visitOf(url string, round int) string {
	return messages.Visit{URL: messages.HashURL(url), Round: uint64(round)}.String()
}

// recordLine returns a record of a visit, whose round is the hour of the day. A key may be "".
func recordLine(kind, url, key string, round int, more string) string {
	s := fmt.Sprintf(`"url":%q,"fetched_at":"2026-11-21T%02d:00:00.5Z","crawl":"a","visit":%q,"run":%d`, url, round, visitOf(url, round), round)
	if kind != "page" {
		s = `"kind":"` + kind + `",` + s
	}
	if key != "" {
		s += `,"key":"` + key + `"`
	}
	return "{" + s + more + "}\n"
}

// A page that was gone at its last visit has no latest record. Its earlier records are still in the
// output, and so are those of a later replay of an earlier visit.
func TestLatestRecordsAreOfPagesThatAreThere(t *testing.T) {
	line := func(kind, url, key string, round int) string {
		return recordLine(kind, "https://a.test/"+url, key, round, "")
	}
	var (
		stays    = line("item", "1", "k1", 1)
		goes     = line("item", "2", "k2", 1)
		gone     = line("gone", "2", "", 2)
		replayed = line("item", "2", "k2", 1)
		left     = line("item", "3", "k3", 1)
		away     = line("gone", "3", "", 2)
		back     = line("item", "3", "k3", 3)
		page     = line("page", "2", "", 1)
		two      = line("item", "4", "k5", 1) // the same key is on page 5, which is removed
		too      = line("item", "5", "k5", 2)
		no5      = line("gone", "5", "", 3)
	)
	all := stays + goes + page + left + two + too + gone + away + no5 + replayed + back
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "1.jsonl"), []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"all":          {nil, all},
		"latest":       {[]string{"--latest"}, stays + two + back},
		"latest items": {[]string{"--latest", "--kind", "item"}, stays + two + back},
		"latest pages": {[]string{"--latest", "--kind", "page"}, ""},
		"what is gone": {[]string{"--latest", "--kind", "gone"}, gone + no5},
		"what was":     {[]string{"--kind", "gone"}, gone + away + no5},
		"one run":      {[]string{"--run", "2"}, too + gone + away},
		"last run":     {[]string{"--run", "last", "--kind", "item"}, back},
	} {
		if got := want(t, exitOK, append([]string{"cat", dir}, tt.args...)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A page has the records of its last visit: a record of an earlier visit no longer exists, unless
// another page has its key. A replay replaces the earlier records of its visit, with or without a
// key.
func TestLatestPartsAreOfTheLastVisit(t *testing.T) {
	const a, b = "https://a.test/", "https://b.test/"
	line := func(kind, key string, round int, text string) string {
		return recordLine(kind, a, key, round, `,"text":"`+text+`"`)
	}
	generation := func(line, name string) string {
		return strings.TrimSuffix(line, "}\n") + `,"generation":"` + name + "\"}\n"
	}
	var (
		old      = line("chunk", "", 1, "one") + line("chunk", "", 1, "two") + line("chunk", "", 1, "three")
		oldPage  = line("page", "", 1, "")
		note     = line("note", "", 1, "gone from the page")
		keyed    = line("part", "k1", 1, "gone from the page")
		page     = line("page", "", 2, "")
		first    = line("chunk", "", 2, "one") + line("chunk", "", 2, "2")
		again    = generation(line("chunk", "", 2, "all of it"), "g2")
		nameless = `{"url":"https://b.test/","text":"a"}` + "\n"
		wrong    = line("part", "wrong", 2, "x")
		k2       = line("part", "k2", 2, "x")
		beside   = recordLine("part", b, "wrong", 1, `,"text":"y"`)
		mended   = generation(k2, "g2") + generation(line("part", "right", 2, "x"), "g2")
		again3   = generation(line("part", "k3", 2, "x"), "g3")
	)
	for name, tt := range map[string]struct{ all, want, chunks string }{
		"visits":              {old + oldPage + note + keyed + first + page, first + page, first},
		"emptied":             {old + oldPage + note + keyed + page, page, ""},
		"replayed":            {old + oldPage + first + page + again, again + page, again},
		"replayed to nothing": {first + page + generation(page, "g2"), generation(page, "g2"), ""},
		"only once":           {old + note, old + note, old},
		"mended":              {keyed + first + wrong + k2 + mended, mended, ""},
		"shared":              {beside + wrong + k2 + mended + first, beside + mended, ""},
		"twice":               {wrong + k2 + mended + first + again3, again3, ""},
		"few names":           {nameless + first, nameless + first, first},
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

// Changes list for each visit what it found of each item, and the former values.
func TestChanges(t *testing.T) {
	const list = "https://a.test/list"
	item := func(key string, round, price int) string {
		return recordLine("item", list, key, round, fmt.Sprintf(`,"price":%d`, price))
	}
	change := func(what, key string, round, price int, more string) string {
		at := fmt.Sprintf("2026-11-21T%02d:00:00.500000Z", round)
		return fmt.Sprintf(`{"kind":"item","change":%q,"crawl":"a","url":%q,"run":%d,"fetched_at":%q%s,"record":%s}`+"\n",
			what, list, round, at, more, strings.TrimSuffix(item(key, round, price), "\n"))
	}
	empty := fmt.Sprintf(`{"kind":"visit","url":%q,"fetched_at":"2026-11-21T04:00:00.5Z","crawl":"a","visit":%q,"run":4,"status":200,"class":"ok"}`+"\n", list, visitOf(list, 4))
	same := strings.NewReplacer(`T04`, `T03`, `"run":4`, `"run":3`, visitOf(list, 4), visitOf(list, 3), `"ok"`, `"not_modified","same":true`).Replace(empty)
	dir := t.TempDir()
	all := item("a", 1, 10) + item("b", 1, 20) + item("a", 2, 12) + same + empty
	if err := os.WriteFile(filepath.Join(dir, "1.jsonl"), []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	first := change("new", "a", 1, 10, "") + change("new", "b", 1, 20, "")
	if got := want(t, exitOK, []string{"cat", dir, "--changes", "--run", "1"}); got != first {
		t.Errorf("first run: %s, want %s", got, first)
	}
	if got := want(t, exitOK, []string{"cat", dir, "--changes"}); !strings.HasPrefix(got, first) {
		t.Errorf("all: %s", got)
	}
	for run, lines := range map[string][]string{
		"2":    {change("changed", "a", 2, 12, `,"changed":["price"],"was":{"price":10}`), `"change":"gone"`},
		"3":    {`"change":"same"`},
		"last": {`"change":"gone"`},
	} {
		got := want(t, exitOK, []string{"cat", dir, "--changes", "--run", run})
		if n := strings.Count(got, "\n"); n != len(lines) {
			t.Errorf("run %s: %d lines: %s", run, n, got)
		}
		for _, line := range lines {
			if !strings.Contains(got, line) {
				t.Errorf("run %s: %s, want %s", run, got, line)
			}
		}
	}
}
