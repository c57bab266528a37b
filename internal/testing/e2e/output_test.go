package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"seine/internal/output"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
)

// A crawl into encrypted objects is killed and resumes. Its output is verified, exported to plain
// chunks, and read.
func TestCrawlToEncryptedObjectsAndBack(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 150, Latency: 2 * time.Millisecond})
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	key := file(t, "key.txt", id.String()+"\n")
	p := newWorkspace(t)
	form := []string{site.seed, "--encrypt", id.Recipient().String(), "--format", "objects", "--key", "{crawl}/{host}/{url_hash}.json"}
	c := p.crawl(form...)
	eventually(t, patience, "some pages", func() (bool, string) { return len(web.Requests()) > 60, c.said() })
	c.signal(syscall.SIGKILL)
	c.expect(-1)
	p.crawl(form...).expect(0)

	ran := func(code int, args ...string) string {
		t.Helper()
		c := seine(t, "", args...)
		c.expect(code)
		return c.stdout.String()
	}
	text, err := os.ReadFile(filepath.Join(p.out, "_manifests", "default", "default.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m output.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if !m.Complete || !m.Encrypted || m.Records != int64(len(site.pages)) {
		t.Errorf("the manifest says %d records, complete %v, encrypted %v", m.Records, m.Complete, m.Encrypted)
	}
	if got := ran(0, "verify", p.out); !strings.Contains(got, "all as committed") {
		t.Errorf("verify: %s", got)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	ran(0, "export", p.out, "--to", plain, "--identity", key, "--quiet")
	ran(0, "verify", plain)
	var rs []messages.Record
	lines := bufio.NewScanner(strings.NewReader(ran(0, "cat", plain)))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var r messages.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	wantPages(t, rs, site.pages)
}
