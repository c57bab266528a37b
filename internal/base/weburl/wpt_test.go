package weburl

import (
	"encoding/json"
	"errors"
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

// tally counts the cases of the data by their kind. No case is omitted.
type tally struct {
	invalid    int // not a URL by the standard
	otherTypes int // a URL, neither http nor https
	emptyEnd   int // see hasEmptyEnd
	same       int // the canonical form is the standard's serialisation
	normalized int // the canonical form differs by the rules in the package comment
}

// TestWebPlatform runs the copy of the data in the parser module.
func TestWebPlatform(t *testing.T) {
	var got tally
	for _, c := range webPlatformTests(t) {
		refused := true
		switch {
		case c.Failure:
			got.invalid++
		case c.Protocol != "http:" && c.Protocol != "https:":
			got.otherTypes++
		case hasEmptyEnd(c.Host):
			got.emptyEnd++
		default:
			refused = false
		}
		if refused {
			checkRefused(t, c)
			continue
		}
		want := expectedForm(c)
		if want == c.Href {
			got.same++
		} else {
			got.normalized++
		}
		checkAccepted(t, c, want)
	}
	// For version 0.6.2 of the module. Another version may have other data: these numbers show that
	// the data was read, and how.
	want := tally{invalid: 272, otherTypes: 328, emptyEnd: 3, same: 157, normalized: 60}
	t.Logf("%+v", got)
	if got != want {
		t.Errorf("the data has cases %+v, want %+v", got, want)
	}
}

func checkRefused(t *testing.T, c webPlatformTest) {
	t.Helper()
	got, err := canonicalizeTest(c)
	if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrScheme) {
		t.Errorf("input %q, base %q: got %q, %v, want an error", c.Input, deref(c.Base), got, err)
	}
	// An absolute URL is rejected because of its scheme, not by mistake.
	if absolute := schemeLength(strip(c.Input)) > 0; absolute && !c.Failure && !hasEmptyEnd(c.Host) && !errors.Is(err, ErrScheme) {
		t.Errorf("input %q: %v, want %v", c.Input, err, ErrScheme)
	}
}

func checkAccepted(t *testing.T, c webPlatformTest, want string) {
	t.Helper()
	got, err := canonicalizeTest(c)
	if err != nil || got != want {
		t.Errorf("input %q, base %q: got %q, %v, want %q", c.Input, deref(c.Base), got, err, want)
		return
	}
	checkCanonical(t, got)
	if n := NewNormalizer(NormalizeOptions{DropTracking: true, DropSessions: true}).Normalize(got); n != got {
		t.Errorf("%q is normalised to %q, and has neither a tracking parameter nor a session id", got, n)
	}
	checkNormal(t, NewNormalizer(allOptions), allOptions, got)
}

// hasEmptyEnd reports whether the standard accepts a host that this package rejects: no resolver
// accepts it, and without its last dot it may be parsed as a number.
func hasEmptyEnd(host string) bool { return host == "." || strings.HasSuffix(host, "..") }

// canonicalizeTest resolves as a browser would. Bases with other schemes have no effect on http
// URLs; relative inputs against them must fail.
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

// expectedForm applies the rules of the canonical form to the expected parts, with another
// implementation than the package's.
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

// TestToASCII runs the conformance data for host names.
func TestToASCII(t *testing.T) {
	// Valid only if IDNA is processed without the STD3 rules (UTS 46), as in the standard. The
	// parser accepts them and rejects its own result: see serializeStable. No registry assigns such
	// names.
	deviating := map[string]bool{"≠": true, "≮": true, "≯": true}
	run := 0
	for _, c := range conformanceData[struct {
		Input  string
		Output *string
	}](t, "toascii.json") {
		run++
		want := ""
		if c.Output != nil && !deviating[c.Input] {
			want = "https://" + *c.Output + "/x"
		}
		got, err := Canonicalize("https://" + c.Input + "/x")
		if got != want || (err == nil) == (want == "") {
			t.Errorf("host %q: got %q, %v, want %q", c.Input, got, err, want)
		}
	}
	if run != 39 {
		t.Errorf("%d cases in the data, want 39", run)
	}
}

func webPlatformTests(t testing.TB) []webPlatformTest {
	t.Helper()
	return conformanceData[webPlatformTest](t, "urltestdata.json")
}

// conformanceData loads a file of the parser module's test data, an array that contains comments as
// strings.
func conformanceData[Case any](t testing.TB, file string) (cases []Case) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("locate module github.com/nlnwa/whatwg-url (%v): download it with \"go mod download\"", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "testdata", file))
	if err != nil {
		t.Fatalf("read the conformance data of the URL parser's module: %v", err)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry[0] != '{' {
			continue
		}
		var c Case
		if err := json.Unmarshal(entry, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}
