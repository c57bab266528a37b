package sitemap

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// brokenFile is a sitemap as programs and people write it, with the expected result.
type brokenFile struct {
	body        string
	contentType string
	want        []string
	unreadable  int
	isXML       bool // nothing had to be repaired
	breaksOff   bool
}

// three is a sitemap of three entries. The second contains the argument.
func three(second string) string {
	return urlset + "<url><loc>/1</loc></url>" + second + "<url><loc>/3</loc></url></urlset>"
}

func inUTF16(text string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(text)) {
		b.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return b.String()
}

var (
	outer   = []string{"/1", "/3"}
	all     = []string{"/1", "/2", "/3"}
	entry   = "<url><loc>/2</loc></url>"
	noProlo = strings.TrimPrefix(three(entry), `<?xml version="1.0" encoding="UTF-8"?>`)
)

// Each of these ended the reading of the file, or lost more than its own entry, when the file was
// parsed as XML.
var brokenFiles = map[string]brokenFile{
	"Latin-1 byte in UTF-8":             {body: three("<url><loc>/caf\xe9</loc></url>"), want: []string{"/1", "/caf%E9", "/3"}},
	"cut character":                     {body: three("<url><loc>/\xe2\x82</loc></url>"), want: []string{"/1", "/%E2%82", "/3"}},
	"Latin-1 byte in a title":           {body: three("<url><loc>/2</loc><image:image><image:title>\xe9</image:title></image:image></url>"), want: all},
	"Latin-1 byte in an attribute":      {body: three("<url x='\xe9'><loc>/2</loc></url>"), want: all},
	"Latin-1 byte in a comment":         {body: three("<!-- \xe9 -->" + entry), want: all, isXML: true},
	"control character":                 {body: three("<url><loc>/2\x02</loc></url>"), want: all},
	"NUL":                               {body: three("<url><loc>/\x002</loc></url>"), want: all},
	"NUL between tags":                  {body: three("\x00" + entry), want: all},
	"escape sequence":                   {body: three("<url><loc>/2</loc><changefreq>\x1b[31m</changefreq></url>"), want: all},
	"form feed":                         {body: three("\f" + entry), want: all},
	"noncharacter":                      {body: three("<url><loc>/2\uffff</loc></url>"), want: all},
	"reference to a control":            {body: three("<url><loc>/2</loc><changefreq>&#2;</changefreq></url>"), want: all},
	"reference to nothing":              {body: three("<url><loc>/2?a&nosuch;b</loc></url>"), want: []string{"/1", "/2?a&nosuch;b", "/3"}},
	"HTML entity":                       {body: three("<url><loc>/caf&eacute;</loc></url>"), want: []string{"/1", "/café", "/3"}, isXML: true},
	"bare ampersand":                    {body: three("<url><loc>/2?a=1&copy=2</loc></url>"), want: []string{"/1", "/2?a=1&copy=2", "/3"}},
	"bare ampersand at the end":         {body: three("<url><loc>/2?a&</loc></url>"), want: []string{"/1", "/2?a&", "/3"}},
	"bare less-than":                    {body: three("<url><loc>/2?a<1</loc></url>"), want: []string{"/1", "/2?a<1", "/3"}, isXML: true},
	"greater-than":                      {body: three("<url><loc>/2?a>1</loc></url>"), want: []string{"/1", "/2?a>1", "/3"}, isXML: true},
	"-- in a comment":                   {body: three("<!-- a -- b -->" + entry), want: all, isXML: true},
	"comment that ends in --->":         {body: three("<!-- a --->" + entry), want: all, isXML: true},
	"comment without end":               {body: urlset + "<url><loc>/1</loc></url><!-- " + entry, want: []string{"/1"}, breaksOff: true},
	"XML 1.1":                           {body: strings.Replace(three(entry), "1.0", "1.1", 1), want: all, isXML: true},
	"XML 2.0":                           {body: strings.Replace(three(entry), "1.0", "2.0", 1), want: all, isXML: true},
	"unknown encoding":                  {body: strings.Replace(three(entry), "UTF-8", "utf-eight", 1), want: all, isXML: true},
	"no encoding":                       {body: strings.Replace(three(entry), "UTF-8", "", 1), want: all, isXML: true},
	"UTF-16 that is not":                {body: strings.Replace(three(entry), "UTF-8", "UTF-16", 1), want: all, isXML: true},
	"UTF-16 that is not, by header":     {body: three(entry), contentType: "text/xml; charset=utf-16", want: all, isXML: true},
	"UTF-16 that says UTF-8":            {body: inUTF16(three(entry)), want: all, isXML: true},
	"two byte order marks":              {body: "\xef\xbb\xbf\xef\xbb\xbf" + three(entry), want: all, isXML: true},
	"windows-1252, not declared":        {body: "<urlset><url><loc>/caf\xe9</loc></url></urlset>", want: []string{"/café"}, isXML: true},
	"ISO-8859-1 by header":              {body: "<urlset><url><loc>/caf\xe9</loc></url></urlset>", contentType: "text/xml; charset=iso-8859-1", want: []string{"/café"}, isXML: true},
	"blank before the declaration":      {body: "\n\n " + three(entry), want: all, isXML: true},
	"second declaration":                {body: three(`<?xml version="1.0"?>` + entry), want: all, isXML: true},
	"declaration that is cut":           {body: "<?xml version=" + noProlo, want: nil, breaksOff: true},
	"warning before":                    {body: "<br />\n<b>Warning</b>: x in <b>y.php</b><br />\n" + three(entry), want: all, isXML: true},
	"text before":                       {body: "cache miss\n" + three(entry), want: all, isXML: true},
	"text after":                        {body: three(entry) + "\n<!-- 1.2s --> generated by x", want: all, isXML: true},
	"second file after":                 {body: three(entry) + "<urlset><url><loc>/4</loc></url></urlset>", want: []string{"/1", "/2", "/3", "/4"}, isXML: true},
	"HTML between":                      {body: three("<p><b>Notice</b>: x</p>" + entry), want: all, isXML: true},
	"loc without end":                   {body: three("<url><loc>/2</url>"), want: all},
	"url without end":                   {body: three("<url><loc>/2</loc>"), want: all},
	"neither has an end":                {body: three("<url><loc>/2"), want: all},
	"loc ended twice":                   {body: three("<url><loc>/2</loc></loc></url>"), want: all},
	"url ended twice":                   {body: three(entry + "</url>"), want: all},
	"end in another case":               {body: three("<URL><loc>/2</LOC></url>"), want: all, isXML: true},
	"end of another element":            {body: three("<url><loc>/2</lastmod></loc></url>"), want: all},
	"ends that cross":                   {body: three("<url><loc>/2<x></loc></x></url>"), want: all},
	"urlset without end":                {body: strings.TrimSuffix(three(entry), "</urlset>"), want: all, breaksOff: true},
	"cut in a tag":                      {body: strings.TrimSuffix(three(entry), "rl></urlset>"), want: []string{"/1", "/2"}, breaksOff: true},
	"attribute without quotes":          {body: three("<url a=b><loc>/2</loc></url>"), want: all, isXML: true},
	"attribute without value":           {body: three("<url a><loc>/2</loc></url>"), want: all, isXML: true},
	"attribute twice":                   {body: three("<url a='1' a='2'><loc>/2</loc></url>"), want: all, isXML: true},
	"prefix that is not declared":       {body: three("<x:url><x:loc>/2</x:loc></x:url>"), want: all, isXML: true},
	"bad name of an element":            {body: three("<url><loc>/2</loc><1st>x</1st></url>"), want: all, isXML: true},
	"CDATA without end":                 {body: urlset + "<url><loc>/1</loc></url><url><loc><![CDATA[/2</loc></url>", want: []string{"/1"}, breaksOff: true},
	"CDATA in lower case":               {body: three("<url><loc>/2</loc><x><![cdata[y]]></x></url>"), want: all, isXML: true},
	"document type with entities":       {body: `<!DOCTYPE urlset [<!ENTITY a "b"> <!ELEMENT c ANY>]>` + noProlo, want: all, isXML: true},
	"style sheet":                       {body: `<?xml-stylesheet type="text/xsl" href="a>b.xsl"?>` + noProlo, want: all, isXML: true},
	"no loc":                            {body: three("<url><lastmod>2026</lastmod></url>"), want: outer, unreadable: 1, isXML: true},
	"two locs":                          {body: three("<url><loc>/x</loc><loc>/2</loc></url>"), want: all, isXML: true},
	"markup in loc":                     {body: three("<url><loc><a href='/x'>/2</a></loc></url>"), want: outer, unreadable: 1, isXML: true},
	"index with urls":                   {body: "<sitemapindex><url><loc>/1</loc></url></sitemapindex>", want: []string{"/1"}, isXML: true},
	"elements named like those of HTML": {body: three("<url><title>x<y></title><loc>/2</loc><script>/*<</script></url>"), want: all},
}

func TestBrokenFilesGiveWhatIsWholeInThem(t *testing.T) {
	for name, f := range brokenFiles {
		site, err := Parse([]byte(f.body), f.contentType)
		if site == nil {
			if f.want != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var got []string
		for _, e := range site.Entries {
			got = append(got, e.URL)
		}
		if !slices.Equal(got, f.want) || site.Unreadable != f.unreadable || (site.Repairs == 0) != (f.isXML || f.breaksOff) || (err != nil) != f.breaksOff {
			t.Errorf("%s: %q, want %q; %d unreadable, %d repairs, %v", name, got, f.want, site.Unreadable, site.Repairs, err)
		}
	}
}

// With one invalid entry out of 22, at any position, the other 21 are read.
func TestOneBadByteCostsOneEntry(t *testing.T) {
	for bad := range 22 {
		var b strings.Builder
		b.WriteString(urlset)
		for i := range 22 {
			byteThere := ""
			if i == bad {
				byteThere = "\xe9"
			}
			fmt.Fprintf(&b, "<url><loc>https://a.example/%d%s</loc></url>", i, byteThere)
		}
		b.WriteString("</urlset>")
		site, err := Parse([]byte(b.String()), "")
		if err != nil || len(site.Entries) != 22 || site.Repairs != 1 || site.Entries[bad].URL != fmt.Sprintf("https://a.example/%d%%E9", bad) {
			t.Errorf("entry %d: %+v, %v", bad, site, err)
		}
	}
}

// A file that was damaged in transit is reported, wherever its elements end.
func TestDamageBehindTheLastElementIsTold(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte("<urlset><url><loc>https://x.example/</loc></url></urlset>")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	body := zipped.Bytes()
	body[len(body)-6] ^= 1 // of the checksum
	site, err := Parse(body, "")
	if err == nil || site == nil || len(site.Entries) != 1 {
		t.Errorf("got %+v, %v", site, err)
	}
}
