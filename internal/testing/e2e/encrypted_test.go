package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"seine/internal/testing/testweb"
)

// An encrypted state has no URLs and no page text in its files, not even after a kill. Otherwise it
// works as usual: the crawl resumes, commands inspect it, and pages are parsed again, all without
// naming the key file. Without the key nothing works.
func TestEncryptedStateCannotBeReadWithoutItsKey(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 40})
	g := newGate(t, web, "/gate")
	held := strings.TrimSuffix(site.seed, "/") + "/gate"
	key := file(t, "key", strings.Repeat("a random text ", 3))
	p := newWorkspace(t)
	first := p.crawl(site.seed, held, "--encrypt-state", key)
	g.wait(t)
	first.signal(syscall.SIGKILL)
	<-first.gone
	wantUnreadable(t, p.data)
	g.open()

	other := p.crawl("--encrypt-state", file(t, "other", strings.Repeat("another text ", 3)))
	other.expect(1)
	other.complains("another key", key)
	moved := key + ".moved"
	rename(t, key, moved)
	gone := p.crawl()
	gone.expect(1)
	gone.complains("is encrypted", key, "--encrypt-state FILE")
	if out := runSeine(t, "status", "--data", p.data); out.code() != 1 || !strings.Contains(out.stderr.String(), "is encrypted") {
		t.Errorf("status without the key: %d, %s", out.code(), out.said())
	}
	p.crawl("--encrypt-state", moved).expect(0)
	wantPages(t, records(t, p.out, "default"), append(site.pages, held))
	wantUnreadable(t, p.data)

	wantOutput(t, runSeine(t, "explain", site.seed, "--data", p.data), "done")
	state := filepath.Join(t.TempDir(), "replay")
	again := runSeine(t, "replay", "parse", "--data", p.data, "--out", filepath.Join(t.TempDir(), "again"), "--state", state, "--quiet")
	if again.code() != 0 {
		t.Errorf("replay: %d, %s", again.code(), again.said())
	}
	wantUnreadable(t, state)

	clear := newWorkspace(t)
	clear.crawl(site.seed).expect(0)
	late := clear.crawl("--encrypt-state", moved)
	late.expect(1)
	late.complains("is not encrypted", "use another --data")
	if !readable(t, clear.data) {
		t.Error("a state in the clear does not have what is looked for: the test shows nothing")
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func wantUnreadable(t *testing.T, dir string) {
	t.Helper()
	if readable(t, dir) {
		t.Error("a URL or a text can be read in " + dir)
	}
}

// readable reports whether a file below dir contains a URL or a text that every page has.
func readable(t *testing.T, dir string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range []string{"http://h0", "http://127.0.0.1:", "<!DOCTYPE", "<title>"} {
			// The note with the address of the crawl's server has a nats:// URL.
			if bytes.Contains(text, []byte(word)) {
				t.Logf("%q is in %s", word, path)
				found = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
