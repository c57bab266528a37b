package main

import (
	"os"
	"path/filepath"
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
		"none":            {[]string{"--crawl", "c"}, ""},
	} {
		if got := want(t, exitOK, append([]string{"cat", dir}, tt.args...)); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
