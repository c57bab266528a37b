package sitemap

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/weburl"
)

// ParseText reads a sitemap that is a text file, with a URL on each line, as the
// protocol allows ("Other Sitemap formats"). Since any text has lines, more than half of
// them must be URLs of http or https: ErrNotSitemap if they are not, or if there is none.
// The caller knows that a sitemap is expected there, by its name or from who named it.
func ParseText(body []byte) (*Sitemap, error) { return parseText(body, MaxBytes) }

func parseText(body []byte, limit int) (*Sitemap, error) {
	text := bytes.TrimPrefix(body[:min(len(body), limit)], []byte("\xef\xbb\xbf"))
	site := &Sitemap{Cut: len(body) > limit}
	var bad []byte // the first line that is no URL
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if len(site.Entries) == MaxEntries {
			site.Cut = true
			break
		}
		if len(text) == 0 && site.Cut {
			break // the last line is not all there
		}
		if !isURL(line) {
			if site.Unreadable++; site.Unreadable == 1 {
				bad = line
			}
			continue
		}
		site.Entries = append(site.Entries, Entry{URL: weburl.EscapeInvalid(string(line)), Priority: -1})
	}
	if bad != nil && len(site.Entries) <= site.Unreadable {
		return nil, fmt.Errorf("%w: %.40q is not a URL", ErrNotSitemap, bad)
	}
	if len(site.Entries) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrNotSitemap)
	}
	return site, nil
}

// ParseAny reads a file that is known for a sitemap: XML, or else a list of URLs as text,
// which may be in gzip, too.
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
