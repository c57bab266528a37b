package htmlpage

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// html5libTest is a case of html5lib's tokenizer tests.
type html5libTest struct {
	Description, Input, LastStartTag string
	Output                           [][]any
	InitialStates                    []string
	DoubleEscaped                    bool
}

// html5libTests reads the copy of the tests in golang.org/x/net.
func html5libTests(t *testing.T) []html5libTest {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "html/testdata/html5lib-tests/tokenizer/*.test"))
	if err != nil {
		t.Fatal(err)
	}
	var all []html5libTest
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var suite struct{ Tests, XMLViolationTests []html5libTest }
		if err := json.Unmarshal(text, &suite); err != nil {
			t.Fatalf("%s: %v", filepath.Base(file), err)
		}
		all = append(all, suite.Tests...) // xmlViolationTests are for parsers that convert HTML to XML
	}
	return all
}

// transcriptOf writes the expected output of a case in the notation of ours: without comments and
// document types, which this tokenizer skips.
func transcriptOf(t *testing.T, c html5libTest) []string {
	t.Helper()
	out := transcript{sorted: true}
	for _, token := range c.Output {
		switch token[0] {
		case "Character":
			out.text(token[1].(string))
		case "EndTag":
			out.tag("/", []byte(token[1].(string)), nil)
		case "StartTag":
			var attrs []string
			for key, value := range token[2].(map[string]any) {
				attrs = append(attrs, notation([]byte(key), []byte(value.(string))))
			}
			out.tag("", []byte(token[1].(string)), attrs)
		case "Comment", "DOCTYPE":
		default:
			t.Fatalf("%s: token %v", c.Description, token)
		}
	}
	return out.lines
}

// TestTokenizerPassesHTML5lib runs the tests of html5lib that begin in the state at the start of a
// page.
func TestTokenizerPassesHTML5lib(t *testing.T) {
	var ran, otherState int
	for _, c := range html5libTests(t) {
		if len(c.InitialStates) > 0 && !slices.Contains(c.InitialStates, "Data state") {
			otherState++
			continue
		}
		if c.DoubleEscaped {
			c.unescape(t)
		}
		ran++
		got, want := (&transcript{sorted: true}).ours([]byte(c.Input)), transcriptOf(t, c)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q\n got %q\nwant %q", c.Description, c.Input, got, want)
		}
	}
	if ran < 6000 || otherState > 200 { // version 0.62.0 has 6,690 and 116
		t.Errorf("%d cases ran, %d begin in another state", ran, otherState)
	}
}

// unescape replaces \uXXXX, which tests use for characters that JSON could not contain otherwise.
func (c *html5libTest) unescape(t *testing.T) {
	t.Helper()
	plain := func(s string) string {
		for i := 0; ; i++ {
			j := strings.Index(s[i:], `\u`)
			if j < 0 {
				return s
			}
			i += j
			n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			s = s[:i] + string(rune(n)) + s[i+6:]
		}
	}
	c.Input = plain(c.Input)
	for _, token := range c.Output {
		for i := range token {
			if text, ok := token[i].(string); ok {
				token[i] = plain(text)
			}
		}
	}
}
