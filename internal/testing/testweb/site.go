package testweb

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// HiddenPrefix starts the paths that are only in comments and scripts. They answer 404.
const HiddenPrefix = "/hidden/"

// Salts make the decisions about one page independent of each other.
const (
	saltText uint64 = iota
	saltPath
	saltBody
	saltSize
	saltFlaky
	saltMissing
	saltPrivate
	saltRedirect
	saltTrap
	saltModified
	saltLatency
	saltLarge
)

const (
	privateRate  = 0.05 // fraction of pages that link a page below /private/
	trapRate     = 0.1  // fraction of pages that link into a trap
	sectionCount = 12   // top folders of a host
)

// site defines the shape of the web by pure functions of the configuration, so nothing is stored.
type site struct {
	cfg  Config
	text *vocabulary
}

func (s *site) hash(host, page int, salt uint64) uint64 {
	return mix(s.cfg.Seed, salt, uint64(host), uint64(page))
}

func (s *site) picked(host, page int, salt uint64, rate float64) bool {
	return rate > 0 && fraction(s.hash(host, page, salt)) < rate
}

// name returns the host's name without a port.
func (s *site) name(host int) string { return "h" + strconv.Itoa(host) + "." + s.cfg.Domain }

// appendPath appends the escaped path and query of an HTML page.
func (s *site) appendPath(b []byte, host, page int) []byte {
	if s.isEndless() {
		return s.appendEndlessPath(b, host, page)
	}
	if page == 0 {
		return append(b, '/')
	}
	h := s.hash(host, page, saltPath)
	if h%10 == 8 {
		b = strconv.AppendInt(append(b, "/item.php?id="...), int64(page), 10)
		return append(b, "&l=en"...)
	}
	b = append(append(b, '/'), s.text.words[mix(uint64(host), h>>8)%sectionCount]...)
	b = append(b, '/')
	word := s.text.words[h>>32%wordCount]
	switch h % 10 {
	case 6:
		return append(appendSlug(b, word, page), '/')
	case 7:
		b = append(append(b, s.text.words[h>>48%wordCount]...), '/')
		return appendSlug(b, word, page)
	case 9:
		word = "caf%C3%A9"
	}
	return append(appendSlug(b, word, page), ".html"...)
}

func appendSlug(b []byte, word string, n int) []byte {
	return strconv.AppendInt(append(append(b, word...), '-'), int64(n), 10)
}

// find is the inverse of appendPath.
func (s *site) find(host int, uri string) (page int, ok bool) {
	if uri == "/" {
		return 0, true
	}
	page, ok = numberIn(uri)
	if !ok || page == 0 || page >= s.cfg.PagesPerHost {
		return 0, false
	}
	var buf [96]byte
	return page, string(s.appendPath(buf[:0], host, page)) == uri
}

// numberIn parses the number after the last '-' or after "id=".
func numberIn(uri string) (int, bool) {
	start := strings.LastIndexByte(uri, '-') + 1
	if start == 0 {
		start = strings.Index(uri, "id=") + len("id=")
	}
	end := start
	for end < len(uri) && uri[end] >= '0' && uri[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(uri[start:end])
	return n, err == nil
}

// appendPrivate appends the path of the page below /private/ that the given page links.
func (s *site) appendPrivate(b []byte, host, page int) []byte {
	b = append(b, "/private/"...)
	if s.isOpen(host, page) {
		b = append(b, "open/"...)
	}
	word := s.text.words[s.hash(host, page, saltPath)>>16%wordCount]
	return append(appendSlug(b, word, page), ".html"...)
}

func (s *site) hasPrivate(host, page int) bool {
	return !s.isEndless() && (page == 0 || s.picked(host, page, saltPrivate, privateRate))
}

// isOpen reports whether robots.txt allows the private page by a longer match.
func (s *site) isOpen(host, page int) bool {
	return page != 0 && s.hash(host, page, saltPrivate)%4 == 0
}

func (s *site) isFlaky(host, page int) bool {
	return page != 0 && s.picked(host, page, saltFlaky, s.cfg.ErrorRate)
}

// padding returns the size of a large page's comment in bytes, 0 for other pages.
func (s *site) padding(host, page int) int {
	if !s.picked(host, page, saltLarge, s.cfg.LargeRate) {
		return 0
	}
	return 1<<20 + int(s.hash(host, page, saltLarge)%(3<<20))
}

func (s *site) hasMissing(host, page int) bool {
	return s.picked(host, page, saltMissing, s.cfg.MissingRate)
}

func (s *site) isRedirected(host, page int) bool {
	return page != 0 && s.picked(host, page, saltRedirect, s.cfg.RedirectRate)
}

func (s *site) hasTrap(host, page int) bool {
	return s.cfg.Traps && (page == 0 || s.picked(host, page, saltTrap, trapRate))
}

// size returns the target size of a page in bytes: log-normal around the median, limited to an
// eighth and eight times of it.
func (s *site) size(host, page int) int {
	r := rng(s.hash(host, page, saltSize))
	z := -6.0
	for range 12 { // the sum of twelve uniform numbers, less six, is close to normal with deviation 1
		z += fraction(r.next())
	}
	return int(float64(s.cfg.PageBytes) * math.Exp2(min(3, max(-3, z))))
}

// modified returns the Last-Modified time of a page: some second of 2024.
func (s *site) modified(host, page int) time.Time {
	const year = 365 * 24 * 3600
	base := time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)
	return base.Add(time.Duration(s.hash(host, page, saltModified)%year) * time.Second)
}
