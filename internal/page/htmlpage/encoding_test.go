package htmlpage

import "testing"

// The page is decoded, and the queries of its links are encoded again. The tests of package charset
// cover the rest.
func TestEncoding(t *testing.T) {
	const page = "<link rel=canonical href='?\xb1'><a href='\xb1?\xb1=&eacute;&euro;'>\xb1</a><a href='/?ab'>x</a><base href='/\xb1/?\xb1'>"
	const latin2 = "canonical /%C4%85/?%B1\nanchor /%C4%85/%C4%85?%B1=%E9%26%238364%3B\nanchor /?ab"
	tests := []struct{ contentType, charset, text, links, canonical string }{
		{"text/html; charset=latin2", "iso-8859-2", "ąx", latin2, "https://example.org/%C4%85/?%B1"},
		{"application/xhtml+xml; charset=latin2", "iso-8859-2", "ąx", latin2, "https://example.org/%C4%85/?%B1"},
		{"text/html; charset=utf-8", "utf-8", "\ufffdx", "canonical /%EF%BF%BD/?%EF%BF%BD\n" +
			"anchor /%EF%BF%BD/%EF%BF%BD?%EF%BF%BD=%C3%A9%E2%82%AC\nanchor /?ab", "https://example.org/%EF%BF%BD/?%EF%BF%BD"},
	}
	for _, tt := range tests {
		p, err := Scan([]byte(page), testURL, tt.contentType, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Charset != tt.charset || p.Text != tt.text || links(p) != tt.links || p.Canonical != tt.canonical {
			t.Errorf("%s: %s %q %q\n%s", tt.contentType, p.Charset, p.Text, p.Canonical, links(p))
		}
	}
}

// XHTML is XML, in which a meta element declares nothing.
func TestXHTMLEncoding(t *testing.T) {
	p, err := Scan([]byte("<meta charset=latin2 />é"), testURL, "application/xhtml+xml", Options{})
	if err != nil || p.Charset != "utf-8" || p.Text != "é" {
		t.Errorf("%s %q, %v", p.Charset, p.Text, err)
	}
}
