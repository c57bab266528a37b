package sitemap

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/weburl"
	"seine/internal/page/charset"
)

// ParseText reads a sitemap that is a text file with a URL on each line, as the protocol allows
// ("Other Sitemap formats"). Since any text has lines, more than half of them must be http or https
// URLs: otherwise, and if there is none, it returns ErrNotSitemap. The caller must know that a
// sitemap is expected, by the file's name or by the reference to it.
func ParseText(body []byte) (*Sitemap, error) { return parseText(body, MaxBytes) }

func parseText(body []byte, limit int) (*Sitemap, error) {
	text := bytes.TrimPrefix(body[:min(len(body), limit)], []byte("\xef\xbb\xbf"))
	site := &Sitemap{Cut: len(body) > limit}
	if site.Cut {
		text = text[:bytes.LastIndexAny(text, "\r\n")+1] // the last line is incomplete
	}
	if bytes.IndexByte(text[:min(len(text), 64)], 0) >= 0 {
		text, _ = charset.DecodeText(text, "") // UTF-16; other bytes of URLs stay as the server knows them
	}
	var bad []byte // the first line that is not a URL
	for line := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
		line, _, _ = bytes.Cut(bytes.TrimSpace(line), []byte{'\t'}) // other columns may follow the URL
		switch {
		case len(line) == 0:
		case len(site.Entries) == MaxEntries:
			site.Cut = true
			return site, nil
		case isURL(line):
			site.Entries = append(site.Entries, Entry{URL: weburl.EscapeInvalid(string(line)), Priority: -1})
		default:
			if site.Unreadable++; site.Unreadable == 1 {
				bad = line
			}
		}
	}
	if bad != nil && len(site.Entries) <= site.Unreadable {
		return nil, fmt.Errorf("%w: %.40q is not a URL", ErrNotSitemap, bad)
	}
	if len(site.Entries) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrNotSitemap)
	}
	return site, nil
}

// markdownLink has the target of a link in its first or second group.
var markdownLink = lazyregexp.New(`\]\(\s*<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)|<(https?://[^\s<>]+)>`)

// ParseMarkdown reads the links of a Markdown document, such as llms.txt, as entries. They may be relative.
func ParseMarkdown(body []byte) *Sitemap {
	site := new(Sitemap)
	for _, m := range markdownLink().FindAllSubmatch(body[:min(len(body), MaxBytes)], MaxEntries) {
		site.Entries = append(site.Entries, Entry{URL: weburl.EscapeInvalid(string(m[1]) + string(m[2])), Priority: -1})
	}
	return site
}

// ParseAny reads a file that is known to be a sitemap: XML, or otherwise a list of URLs as text,
// which may also be compressed with gzip.
func ParseAny(body []byte, contentType string) (*Sitemap, error) {
	site, notXML := Parse(body, contentType)
	if !errors.Is(notXML, ErrNotSitemap) {
		return site, notXML
	}
	text, cut, broken := unzipped(body)
	site, err := ParseText(text)
	switch {
	case err != nil && bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")):
		return nil, notXML
	case err != nil:
		return nil, err
	case broken != nil:
		return site, fmt.Errorf("read sitemap: %w", broken)
	}
	site.Cut = site.Cut || cut
	return site, nil
}

func isURL(line []byte) bool {
	if len(line) >= maxURL || bytes.ContainsAny(line, " \t<>\"") {
		return false
	}
	head := strings.ToLower(string(line[:min(len(line), len("https://"))]))
	return strings.HasPrefix(head, "http://") && len(line) > len("http://") || head == "https://" && len(line) > len("https://")
}
