package weburl

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// webPlatformTest is a case of urltestdata.json, the conformance data of the
// URL standard.
type webPlatformTest struct {
	Input, Href, Protocol, Host, Pathname, Search string
	Base                                          *string
	Failure                                       bool
}

// TestWebPlatform runs the copy of the data that comes with the parser module.
func TestWebPlatform(t *testing.T) {
	run, accepted := 0, 0
	for _, c := range webPlatformTests(t) {
		got, err := canonicalizeTest(c)
		run++
		if c.Failure || c.Protocol != "http:" && c.Protocol != "https:" || hasEmptyEnd(c.Host) {
			if err == nil {
				t.Errorf("input %q, base %q: got %q, want an error", c.Input, deref(c.Base), got)
			}
			continue
		}
		accepted++
		if want := expectedForm(c); err != nil || got != want {
			t.Errorf("input %q, base %q: got %q, %v, want %q", c.Input, deref(c.Base), got, err, want)
		}
	}
	t.Logf("%d cases, of these %d http or https", run, accepted)
	if accepted < 200 {
		t.Errorf("only %d http cases in the data: has its format changed?", accepted)
	}
}

// hasEmptyEnd reports a host that the standard accepts and this package refuses:
// no resolver takes it, and without its last dot it may read as a number.
func hasEmptyEnd(host string) bool { return host == "." || strings.HasSuffix(host, "..") }

// canonicalizeTest resolves as a browser would. Bases of other schemes make no
// difference to http URLs; relative inputs against them must fail.
func canonicalizeTest(c webPlatformTest) (string, error) {
	if c.Base == nil || !strings.HasPrefix(*c.Base, "http") {
		return Canonicalize(c.Input)
	}
	b, err := NewBase(*c.Base)
	if err != nil {
		return "", err
	}
	return b.Resolve(c.Input)
}

var (
	anyEscape  = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	unreserved = regexp.MustCompile(`^[A-Za-z0-9._~-]$`)
)

// expectedForm applies the rules of the canonical form to the expected parts,
// in another way than the package does.
func expectedForm(c webPlatformTest) string {
	host := strings.TrimSuffix(c.Host, ".")
	path := strings.ReplaceAll(c.Pathname, "^", "%5E")
	normal := anyEscape.ReplaceAllStringFunc(path+c.Search, func(s string) string {
		code, _ := strconv.ParseUint(s[1:], 16, 8)
		if char := string(rune(code)); unreserved.MatchString(char) {
			return char
		}
		return strings.ToUpper(s)
	})
	return c.Protocol + "//" + host + normal
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// webPlatformTests loads the data. The array has comments in it, as strings.
func webPlatformTests(t testing.TB) []webPlatformTest {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("locate module github.com/nlnwa/whatwg-url (%v): download it with \"go mod download\"", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "testdata", "urltestdata.json"))
	if err != nil {
		t.Fatalf("read the conformance data of the URL parser's module: %v", err)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	var tests []webPlatformTest
	for _, entry := range entries {
		var c webPlatformTest
		if entry[0] != '{' {
			continue
		}
		if err := json.Unmarshal(entry, &c); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, c)
	}
	return tests
}
