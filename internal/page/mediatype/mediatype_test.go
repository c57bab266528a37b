package mediatype

import (
	"strings"
	"testing"
	"unicode/utf16"
)

const (
	png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	jpeg = "\xff\xd8\xff\xe0\x00\x10JFIF\x00"
	gif  = "GIF89a\x01\x00\x01\x00\x80\x00\x00"
	pdf  = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
	gzip = "\x1f\x8b\x08\x00\x00\x00\x00\x00"
	zip  = "PK\x03\x04\x14\x00\x00\x00"
	rss  = `<?xml version="1.0"?><rss version="2.0"><channel>`
	atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">`
	rdf  = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">`
	page = "<!DOCTYPE html><html><p>x"
	xhtm = `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd"><html xmlns="http://www.w3.org/1999/xhtml">`
	urls = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	feed = `{"version": "https://jsonfeed.org/version/1.1", "title": "x"}`
)

func wide(s string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		if big {
			b.Write([]byte{byte(u >> 8), byte(u)})
		} else {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
	}
	return b.String()
}

// want is "media class", and "!sniffed" for a mismatch.
var cases = []struct{ header, body, want string }{
	// The declared type is right.
	{"text/html", page, "text/html html"},
	{"text/html; charset=utf-8", "\xef\xbb\xbf\n " + page, "text/html html"},
	{"TEXT/HTML;charset=x", "no markup at all", "text/html html"},
	{"text/html", "", "text/html html"},
	{"text/html", "<p>x", "text/html html"},
	{"text/html", "<custom-element>", "text/html html"},
	{"text/html", "<!-- only a comment", "text/html html"},
	{"text/html", xhtm, "text/html html"},
	{"text/html", "[1] a note", "text/html html"},
	{"text/html", "{{ template }}", "text/html html"},
	{"application/xhtml+xml", xhtm, "application/xhtml+xml html"},
	{"text/plain; charset=utf-16", wide("text", false), "text/plain text"},
	{"text/plain", "text", "text/plain text"},
	{"text/markdown", "# x", "text/markdown text"},
	{"text/css", "a{}", "text/css other"},
	{"text/javascript", "[1]", "text/javascript other"},
	{"application/javascript", "{}", "application/javascript other"},
	{"application/json", `{"a":1}`, "application/json json"},
	{"application/json", ")]}'\n{}", "application/json json"},
	{"application/ld+json", "{}", "application/ld+json json"},
	{"application/x-ndjson", "{}\n{}\n", "application/x-ndjson ndjson"},
	{"application/jsonl", "{}\n", "application/jsonl ndjson"},
	{"text/csv", "a,b\n1,2\n", "text/csv csv"},
	{"text/tab-separated-values", "a\tb\n", "text/tab-separated-values csv"},
	{"application/pdf", pdf, "application/pdf pdf"},
	{"application/x-pdf", pdf, "application/x-pdf pdf"},
	{"image/png", png, "image/png image"},
	{"image/jpg", jpeg, "image/jpg image"},
	{"image/svg+xml", "<svg>", "image/svg+xml image"},
	{"image/unknown", "\x00\x01", "image/unknown image"},
	{"audio/mpeg", "ID3\x03\x00", "audio/mpeg audio"},
	{"audio/mp4", "\x00\x00\x00\x18ftypisom\x00", "audio/mp4 audio"},
	{"video/ogg", "OggS\x00\x02", "video/ogg video"},
	{"application/zip", zip, "application/zip archive"},
	{"application/x-gzip", gzip, "application/x-gzip archive"},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip,
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document office"},
	{"", "PK\x03\x04\x14\x00\x00\x00\x00\x00                \x08\x00\x00\x00mimetypeapplication/epub+zipPK", "application/epub+zip office"},
	{"application/zip", "PK\x03\x04\x14\x00\x08\x00_rels/.rels\x00PK\x01\x02word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document office !application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"application/octet-stream", `{\rtf1\ansi`, "application/rtf office"},
	{"application/msword", `{\rtf1\ansi`, "application/msword office"},
	// Headers as people write them.
	{"text/html charset=utf-8", "x", "text/html html"},
	{`"text/html"`, "x", "text/html html"},
	{" text/html ; a=\"b", "x", "text/html html"},
	{"text/html, text/html", "x", "text/html html"},
	{"text/plain, application/json", "{}", "application/json json"},
	{`text/csv; a="b, text/html"`, "x", "text/csv csv"},
	{"text/html, garbage", "x", "text/html html"},
	{"text/html, */*", "x", "text/html html"},
	// No type: section 7.1 of the standard, and JSON.
	{"", page, "text/html html"},
	{"html", "  <body>", "text/html html"},
	{"*/*", "<!-- c --><table>", "text/html html"},
	{"unknown/unknown", "text", "text/plain text"},
	{"", "", "text/plain text"},
	{"", "\x00\x01", "application/octet-stream other"},
	{"", pdf, "application/pdf pdf"},
	{"", xhtm, "application/xhtml+xml html"},
	{"", "<?xml version='1.0'?><x/>", "application/xml xml"},
	{"", "<x xmlns='urn:x'/>", "application/xml xml"},
	{"", "<x>", "text/plain text"},
	{"", rss, "application/rss+xml feed"},
	{"", ` {"a": [1, 2]}`, "application/json json"},
	{"", `[{"a": "` + strings.Repeat("x", headLength) + `"}]`, "application/json json"},
	{"", "{\"a\":1}\n{\"a\":2}\n", "application/x-ndjson ndjson"},
	{"", "[1] [2] notes", "text/plain text"},
	{"", "[section]\nkey = 1", "text/plain text"},
	{"", "BMW builds cars", "text/plain text"},
	{"", "GIF89a is a format", "text/plain text"},
	{"", wide(page, true), "text/html html"},
	{"", wide("text", false), "text/plain text"},
	{"application/octet-stream", pdf, "application/pdf pdf"},
	{"application/octet-stream", urls, "application/xml sitemap"},
	{"application/octet-stream", "\x00\x02", "application/octet-stream other"},
	{"application/force-download", zip, "application/zip archive"},
	{"binary/octet-stream", "RIFF\x00\x00\x00\x00WEBPVP", "image/webp image"},
	// Signatures.
	{"", "\x00\x00\x00\x1cftypavif\x00\x00", "image/avif image"},
	{"", "\x00\x00\x00\x1cftypheic\x00\x00", "image/heic image"},
	{"", "\x00\x00\x00\x18ftypqt  \x00\x00", "video/quicktime video"},
	{"", "7z\xbc\xaf\x27\x1c\x00\x04", "application/x-7z-compressed archive"},
	{"", "\xfd7zXZ\x00\x00", "application/x-xz archive"},
	{"", "\x28\xb5\x2f\xfd\x04\x00", "application/zstd archive"},
	{"", "BZh91AY&SY\x01\x02", "application/x-bzip2 archive"},
	{"", "name" + strings.Repeat("\x00", 253) + "ustar\x0000", "application/x-tar archive"},
	{"", "fLaC\x00\x00\x00\x22", "audio/flac audio"},
	{"", "\xff\xfb\x90\x64\x00\x00", "audio/mpeg audio"},
	{"", "II*\x00\x08\x00", "image/tiff image"},
	{"", "\x1a\x45\xdf\xa3\x01\x00", "video/webm video"},
	// More exact than declared.
	{"text/xml", rss, "application/rss+xml feed"},
	{"application/xml", "<!-- c -->\n<?xml-stylesheet href='x'?>" + atom, "application/atom+xml feed"},
	{"text/xml", "<feed>", "application/atom+xml feed"},
	{"text/xml", "<feed xmlns='urn:shop'>", "text/xml xml"},
	{"application/rdf+xml", rdf, "application/rss+xml feed"},
	{"application/rdf+xml", strings.ReplaceAll(rdf, "purl", "none"), "application/rdf+xml xml"},
	{"application/rss+xml", atom, "application/atom+xml feed"},
	{"application/rss+xml", "<x/>", "application/rss+xml feed"},
	{"application/atom+xml; type=feed", atom, "application/atom+xml feed"},
	{"text/xml", urls, "text/xml sitemap"},
	{"application/xml", "<s:sitemapindex>", "application/xml sitemap"},
	{"text/xml", xhtm, "application/xhtml+xml html"},
	{"application/xml", `<!DOCTYPE svg [<!ENTITY a ">">]><svg>`, "image/svg+xml image"},
	{"application/xml", `<!DOCTYPE x [<!ENTITY a ">">]><x>`, "application/xml xml"},
	{"text/xml", wide(rss, true), "application/rss+xml feed"},
	{"text/xml", wide(atom, false), "application/atom+xml feed"},
	{"application/json", feed, "application/feed+json feed"},
	{"application/feed+json", feed, "application/feed+json feed"},
	// Mismatches, and the type that counts.
	{"text/html", rss, "application/rss+xml feed !application/rss+xml"},
	{"text/html", atom, "application/atom+xml feed !application/atom+xml"},
	{"text/html", rdf, "application/rss+xml feed !application/rss+xml"},
	{"text/html", urls, "application/xml sitemap !application/xml"},
	{"text/html", "<?xml version='1.0'?><x/>", "text/html html !application/xml"},
	{"text/html", `{"error": null}`, "application/json json !application/json"},
	{"text/html", feed, "application/feed+json feed !application/feed+json"},
	{"text/html", pdf, "application/pdf pdf !application/pdf"},
	{"text/html", png, "image/png image !image/png"},
	{"text/html", gzip, "application/gzip archive !application/gzip"},
	{"text/plain", page, "text/plain text !text/html"},
	{"text/plain", "{\"a\": 1}", "text/plain text !application/json"},
	{"text/plain", rss, "text/plain text !application/rss+xml"},
	{"text/plain", "<svg>", "text/plain text !image/svg+xml"},
	{"text/html", `<svg hidden><symbol id=a></svg><a href="/b">`, "text/html html !image/svg+xml"},
	{"text/plain", jpeg, "image/jpeg image !image/jpeg"},
	{"text/plain; charset=UTF-8", pdf, "application/pdf pdf !application/pdf"},
	{"text/plain", "\x00\x01", "application/octet-stream other !application/octet-stream"},
	{"text/plain; charset=utf-8", "\x00\x01", "text/plain text"}, // not one of the four headers
	{"application/json", page, "text/html html !text/html"},
	{"application/rss+xml", page, "text/html html !text/html"},
	{"text/xml", "<html><body>", "text/html html !text/html"},
	{"application/xml", `{"a":1}`, "application/json json !application/json"},
	{"text/csv", page, "text/html html !text/html"},
	{"text/csv", "{\"a\": 1}", "text/csv csv !application/json"},
	{"image/png", jpeg, "image/jpeg image !image/jpeg"},
	{"image/png", page, "text/html html !text/html"},
	{"application/pdf", page, "text/html html !text/html"},
	{"application/zip", gzip, "application/gzip archive !application/gzip"},
	{"video/mp4", gif, "image/gif image !image/gif"},
}

func describe(t Type) string {
	s := t.Media + " " + t.Class.String()
	if t.Mismatch {
		s += " !" + t.Sniffed
	}
	return s
}

func TestOf(t *testing.T) {
	for _, c := range cases {
		got := Of(c.header, []byte(c.body), false)
		if describe(got) != c.want {
			t.Errorf("%q, %.40q: %s, want %s", c.header, c.body, describe(got), c.want)
		}
		if got.Declared != Declared(c.header) || got.Mismatch && (got.Declared == "" || got.Sniffed == "") {
			t.Errorf("%q, %.40q: %+v", c.header, c.body, got)
		}
	}
}

// With nosniff, the declared type counts, and the mismatch is reported nevertheless.
func TestNoSniff(t *testing.T) {
	for _, c := range []struct{ header, body, want string }{
		{"text/html", rss, "text/html html !application/rss+xml"},
		{"text/html", pdf, "text/html html !application/pdf"},
		{"text/plain", png, "text/plain text !image/png"},
		{"application/json", page, "application/json json !text/html"},
		{"image/png", jpeg, "image/png image !image/jpeg"},
		{"application/octet-stream", pdf, "application/octet-stream other"},
		{"text/xml", rss, "application/rss+xml feed"}, // the root element is not a guess
		{"", page, "text/plain text"},
		{"", pdf, "text/plain text"},
		{"", png, "image/png image"},
		{"", "text", "text/plain text"},
	} {
		if got := describe(Of(c.header, []byte(c.body), true)); got != c.want {
			t.Errorf("%q, %.40q: %s, want %s", c.header, c.body, got, c.want)
		}
	}
}

// Every type in the tables is in the form of comparisons.
func TestTables(t *testing.T) {
	for media := range classes {
		if Declared(media) != media {
			t.Errorf("%q is no type in lower case", media)
		}
	}
	for alias, name := range aliases {
		if classOf(alias) != classOf(name) || canonical(name) != name {
			t.Errorf("%s is %s, but %s is %s", alias, classOf(alias), name, classOf(name))
		}
	}
	for _, s := range signatures {
		if !classOf(s.media).binary() {
			t.Errorf("%s is not binary", s.media)
		}
	}
	for c := Other; c <= Archive; c++ {
		if c.String() == "" || c != Other && c.String() == Other.String() {
			t.Errorf("class %d has no name", c)
		}
	}
}

// Pages cause no allocation.
func TestPagesAllocateNothing(t *testing.T) {
	body := []byte(page)
	if n := testing.AllocsPerRun(100, func() { Of("text/html; charset=utf-8", body, false) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzOf: for any header and body, the result is consistent.
func FuzzOf(f *testing.F) {
	for _, c := range cases {
		f.Add(c.header, []byte(c.body), false)
	}
	f.Fuzz(func(t *testing.T, header string, body []byte, nosniff bool) {
		got := Of(header, body, nosniff)
		if got.Media == "" && got.Declared == "" || got.Media != strings.ToLower(got.Media) {
			t.Errorf("%+v", got)
		}
		if got.Mismatch && (got.Declared == "" || got.Sniffed == "" || got.Sniffed == got.Declared) {
			t.Errorf("mismatch of %+v", got)
		}
		if got != Of(header, body, nosniff) {
			t.Error("differs from one time to the next")
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for name, c := range map[string]struct{ header, body string }{
		"HTML":      {"text/html; charset=utf-8", page},
		"HTMLOther": {"text/html", "<!-- c --><div>" + strings.Repeat("x", 8192)},
		"XML":       {"text/xml", rss},
		"JSON":      {"application/json", `{"a":"` + strings.Repeat("x", 8192)},
		"Unknown":   {"", strings.Repeat("text ", 2000)},
	} {
		b.Run(name, func(b *testing.B) {
			body := []byte(c.body)
			b.ReportAllocs()
			for b.Loop() {
				Of(c.header, body, false)
			}
		})
	}
}
