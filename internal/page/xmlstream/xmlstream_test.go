package xmlstream

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// tokens writes the tokens of a decoder as text.
func tokens(t testing.TB, body, contentType string, flat ...string) (string, int) {
	t.Helper()
	d := NewDecoder([]byte(body), contentType, flat...)
	var b strings.Builder
	open := 0
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, ErrCut):
			return b.String() + " CUT", d.Repairs()
		case errors.Is(err, io.EOF):
			if open != 0 {
				t.Fatalf("%q: a start without an end", body)
			}
			return b.String(), d.Repairs()
		case err != nil:
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			open++
			fmt.Fprintf(&b, "<%s", join(token.Name))
			for _, a := range token.Attr {
				fmt.Fprintf(&b, " %s=%q", join(a.Name), a.Value)
			}
			b.WriteByte('>')
		case xml.EndElement:
			if open--; open < 0 {
				t.Fatalf("%q: an end without a start", body)
			}
			fmt.Fprintf(&b, "</%s>", join(token.Name))
		case xml.CharData:
			b.Write(token)
		}
	}
}

func join(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + "|" + n.Local
}

const utf8Type = "text/xml; charset=utf-8"

func TestTokens(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"<a>x</a>":                        "<a>x</a>",
		"<?xml version='1.1'?><A B='C'/>": `<a b="C"></a>`,
		"<a><!-- -- --><b/><?pi?></a>":    "<a><b></b></a>",
		"<a>&lt;&amp;&#233;&eacute;&copy=&x;</a>":           "<a><&éé&copy=&x;</a>",
		"<a><![CDATA[<b>&lt;]]></a>":                        "<a><b>&lt;</a>",
		"<title>a<b>c</b></title>":                          "<title>a<b>c</b></title>",
		"<script>a<b/></script>":                            "<script>a<b></b></script>",
		"<textarea/><x/>":                                   "<textarea></textarea><x></x>",
		"<a xmlns='u' xmlns:p='v'><p:b p:c='d' e='f'/></a>": `<u|a xmlns="u" xmlns|p="v"><v|b p|c="d" e="f"></v|b></u|a>`,
		"<p:a><b xmlns:p='v'><p:c/></b><p:c/></p:a>":        `<p|a><b xmlns|p="v"><v|c></v|c></b><p|c></p|c></p|a>`,
		"<a><b></a>":                  "<a><b></b></a>",
		"<a></b></a>":                 "<a></a>",
		"</a>":                        "",
		"<a><b>":                      "<a><b> CUT",
		"<a>\x02x\v\x00y\uffff</a>":   "<a>x y</a>",
		"<a b='\x02é'>\xe9</a>":       "<a b=\"é\">\xe9</a>",
		"<a x=1 y>z</a>":              `<a x="1" y="">z</a>`,
		"<item><item></item>":         "<item></item><item></item>",
		"<item><b><item/></b></item>": "<item><b></b></item><item></item>",
		"\xef\xbb\xbf<a/>":            "<a></a>",
	} {
		if got, _ := tokens(t, in, utf8Type, "item"); got != want {
			t.Errorf("%q:\n%q, want\n%q", in, got, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	for _, in := range []struct{ body, contentType string }{
		{"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>", ""}, {"<?xml version='1.0' encoding='nosuch'?><a>é</a>", ""},
		{"<a>\xe9</a>", ""}, {"<a>\xe9</a>", "text/xml; charset=windows-1252"}, {"<a>é</a>", "text/xml; charset=utf-16"},
	} {
		if got, repairs := tokens(t, in.body, in.contentType); got != "<a>é</a>" || repairs != 0 {
			t.Errorf("%q, %s: %q, %d repairs", in.body, in.contentType, got, repairs)
		}
	}
}

func TestRepairsAreCounted(t *testing.T) {
	for in, want := range map[string]int{
		"<a>x &amp; y</a>": 0, "<a>x & y</a>": 1, "<a>&nosuch;&</a>": 2, "<a>\x01\x02\xe9</a>": 3, "<a></b></a>": 1, "<a><b></a>": 1,
		"<a b='\xe9'/>": 1, "<item><item/></item>": 2, "<a/></a>": 1,
	} {
		if _, got := tokens(t, in, utf8Type, "item"); got != want {
			t.Errorf("%q: %d repairs, want %d", in, got, want)
		}
	}
}

// Elements beyond the maximum depth are skipped, so that time is linear.
func TestDepthIsBounded(t *testing.T) {
	got, _ := tokens(t, strings.Repeat("<a>", 10*maxDepth)+strings.Repeat("</a>", 10*maxDepth)+"<b/>", "")
	if want := strings.Repeat("<a>", maxDepth) + strings.Repeat("</a>", maxDepth) + "<b></b>"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// A tag with too many attributes ends the document before it is read into memory as a whole.
func TestTokensAreBounded(t *testing.T) {
	d := NewDecoder([]byte("<a><b/><c "+strings.Repeat("x ", maxToken)+"/></a>"), "")
	n := 0
	_, err := d.Token()
	for ; err == nil; n++ {
		_, err = d.Token()
	}
	if n != 3 || errors.Is(err, io.EOF) || errors.Is(err, ErrCut) {
		t.Errorf("%d tokens, %v; want what is before, and an error", n, err)
	}
}

// FuzzTokens: any bytes end, with an end for each start.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{"<a xmlns='x'><b c='d'>e&amp;f</b></a>", "<a><![CDATA[<]]></a>", "<a></b>", "\xff\xfe<\x00a\x00", "<a\xe9>&#1;"} {
		f.Add(text, "text/xml; charset=utf-8")
	}
	f.Fuzz(func(t *testing.T, body, contentType string) {
		got, repairs := tokens(t, body, contentType, "a")
		if repairs == 0 && utf8.ValidString(body) && !utf8.ValidString(got) {
			t.Errorf("%q: bytes that are no characters, without a repair", got)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	entry := `<url><loc>https://a.example/p/1?a=1&amp;b=2</loc><lastmod>2026-11-20</lastmod><priority>0.8</priority></url>`
	body := []byte(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + strings.Repeat(entry, 1000) + "</urlset>")
	b.Run("this", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			for d := NewDecoder(body, "", "url"); ; {
				if _, err := d.Token(); err != nil {
					break
				}
			}
		}
	})
	b.Run("encoding_xml", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			for d := xml.NewDecoder(strings.NewReader(string(body))); ; {
				if _, err := d.Token(); err != nil {
					break
				}
			}
		}
	})
}
