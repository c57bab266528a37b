package secrets

import (
	"bytes"
	"errors"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
)

const odd = `k+/= "&'<é%\7`

func masking(values ...string) *Mask {
	m := new(Mask)
	m.Add(values...)
	return m
}

// A secret is found in any encoding that programs use in URLs, HTML and JSON.
func TestMaskFindsASecretHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	all := strings.Builder{}
	for i := range len(odd) {
		all.WriteString("%" + string("0123456789abcdef"[odd[i]>>4]) + string("0123456789ABCDEF"[odd[i]&15]))
	}
	numbers := strings.Builder{}
	for _, r := range odd {
		numbers.WriteString("&#x" + strings.ToUpper(string("0123456789abcdef"[r>>4])) + string("0123456789abcdef"[r&15]) + ";")
	}
	for name, text := range map[string]string{
		"raw":                         odd,
		"query":                       url.QueryEscape(odd),
		"query, small digits":         strings.ToLower(url.QueryEscape(odd)),
		"path":                        url.PathEscape(odd),
		"each byte":                   all.String(),
		"a URL within a URL":          url.QueryEscape(url.QueryEscape(odd)),
		"a URL in a URL in a URL":     url.QueryEscape(url.PathEscape(url.QueryEscape(odd))),
		"HTML":                        html.EscapeString(odd),
		"HTML, names":                 `k+/= &quot;&amp;&apos;&lt;é%\7`,
		"HTML, without semicolons":    `k&#43/=&#43;&#34;&amp'&lt;é%\7`,
		"HTML, by number":             numbers.String(),
		"JSON":                        `k+\/= \"\u0026'\u003c\u00e9%\\7`,
		"JSON within JSON":            `k+\\/= \\\"\\u0026'\\u003C\\u00E9%\\\\7`,
		"JavaScript":                  `k\x2b\x2f\x3D \x22\x26\'\x3cé%\x5c7`,
		"the query of a link in HTML": html.EscapeString(url.QueryEscape(odd)),
	} {
		whole := "a=" + text + "&b"
		got := masking(odd).String(whole)
		if want := "a=" + strings.Repeat("x", len(text)) + "&b"; got != want {
			t.Errorf("%s: %s became %s", name, whole, got)
		}
		if !masking(odd).Is(text) || masking(odd).Is(whole) {
			t.Errorf("%s: Is does not tell the secret from what holds it", name)
		}
		for at := range whole {
			r := masking(odd).Reader(io.MultiReader(strings.NewReader(whole[:at]), strings.NewReader(whole[at:])))
			if read, err := io.ReadAll(r); err != nil || string(read) != got {
				t.Errorf("%s: read in two parts, cut at %d: %s, %v", name, at, read, err)
			}
		}
	}
}

func TestMaskLeavesAllElse(t *testing.T) {
	t.Parallel()
	m := masking("s3cret-key", "s3cret-key-longer", "word", "12345", "customer", "")
	for text, want := range map[string]string{
		"":                           "",
		"s3cret-ke":                  "s3cret-ke",
		"s3s3cret-key":               "s3xxxxxxxxxx",
		"s3cret-key-longer.":         "xxxxxxxxxxxxxxxxx.",
		"s3cret-key s3cret-key":      "xxxxxxxxxx xxxxxxxxxx",
		"word 12345 customer":        "word 12345 customer",
		"%":                          "%",
		"%7":                         "%7",
		"%73%":                       "%73%",
		`\`:                          `\`,
		`\u00`:                       `\u00`,
		"&#115;3cret&#":              "&#115;3cret&#",
		"&amp;&lt;&#x;&#;&#99999999": "&amp;&lt;&#x;&#;&#99999999",
		`\ud800\udc00\ud800`:         `\ud800\udc00\ud800`,
	} {
		if got := m.String(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if m.In(text) != (text != want) {
			t.Errorf("In(%q) is %v", text, m.In(text))
		}
		if read, err := io.ReadAll(m.Reader(iotest.OneByteReader(strings.NewReader(text)))); err != nil || string(read) != want {
			t.Errorf("%q was read as %q, %v", text, read, err)
		}
	}
	var none *Mask
	if none.Active() || none.In("x") || none.String("x") != "x" || masking("word").Active() {
		t.Error("a mask without values does something")
	}
}

// The error of a reader is returned after all data that was read.
func TestMaskedReaderPassesErrorsOn(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789 s3cret-key ", 1<<12) + "s3cret-"
	r := masking("s3cret-key").Reader(iotest.TimeoutReader(strings.NewReader(text)))
	read, err := io.ReadAll(r)
	if !errors.Is(err, iotest.ErrTimeout) || len(read) != readBuffer {
		t.Errorf("%d bytes, %v", len(read), err)
	}
	if bytes.Contains(read, []byte("s3cret-key")) {
		t.Error("a secret was read")
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{odd, url.QueryEscape(odd), `\u006b`, "&#107;", "%25256b", `\\\\`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		m := masking(odd, "s3cret-key")
		got := m.String(text)
		if len(got) != len(text) || m.In(got) {
			t.Fatalf("%q became %q", text, got)
		}
		cut = max(0, min(cut, len(text)))
		read, err := io.ReadAll(m.Reader(io.MultiReader(strings.NewReader(text[:cut]), strings.NewReader(text[cut:]))))
		if err != nil || string(read) != got {
			t.Fatalf("%q was read as %q, %v", text, read, err)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	page := []byte(strings.Repeat(`<p class="text"><a href="/path/to?a=b&amp;c=%20d">Some words of a page</a>, and more of them.</p>`+"\n", 1000))
	m := masking("AbCdEf0123456789AbCdEf0123456789")
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		m.Bytes(page)
	}
}
