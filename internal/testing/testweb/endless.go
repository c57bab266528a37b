package testweb

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// SiteKind is the kind of all hosts of a web.
type SiteKind string

// The kinds of sites. All but the first have PagesPerHost real pages of text; up to a thousand of
// them are within three links of "/". They also have endless pages, so a crawler finishes only if
// it detects them. Config's rates, Traps and Special do not apply to these.
const (
	SiteTree SiteKind = "tree" // the default: see the package comment

	// SiteCalendar links a calendar, which links earlier and later months and days for ever, all
	// without events.
	SiteCalendar SiteKind = "calendar"
	// SiteSessions writes a new session id, under an uncommon parameter name, into the links of
	// each answer.
	SiteSessions SiteKind = "sessions"
	// SiteKnownSessions does so with common names: PHPSESSID and ;jsessionid=.
	SiteKnownSessions SiteKind = "known-sessions"
	// SiteSoft404 answers 200 for every path, with an error text and ten suggested links.
	SiteSoft404 SiteKind = "soft404"
	// SiteRepeater has links that lack their leading slash, and serves a page below any folder.
	SiteRepeater SiteKind = "repeater"
	// SiteFacets has a product list with filters in every combination and order.
	SiteFacets SiteKind = "facets"
)

// SiteKinds lists the kinds of sites.
func SiteKinds() []SiteKind {
	return []SiteKind{SiteTree, SiteCalendar, SiteSessions, SiteKnownSessions, SiteSoft404, SiteRepeater, SiteFacets}
}

// fanOut is the number of child pages of each page on an endless site.
const fanOut = 10

func (s *site) isEndless() bool { return s.cfg.Site != SiteTree }

// appendEndlessPath appends the path of a real page.
func (s *site) appendEndlessPath(b []byte, host, page int) []byte {
	if page == 0 {
		return append(b, '/')
	}
	h := s.hash(host, page, saltPath)
	folder := s.text.words[mix(uint64(host), h>>8)%sectionCount]
	switch s.cfg.Site {
	case SiteRepeater:
		folder = repeated
	case SiteFacets:
		folder = "product"
	default:
	}
	b = append(append(append(b, '/'), folder...), '/')
	return append(appendSlug(b, s.text.words[h>>32%wordCount], page), ".html"...)
}

// repeated are the folders that repeat themselves.
const repeated = "docs/guide"

// PageAt returns the number of the real page at a path of an endless site, given as in a Request.
// It returns false for other paths and for endless pages.
func (w *Web) PageAt(host int, path string) (page int, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	switch w.site.cfg.Site {
	case SiteKnownSessions:
		path, _, _ = strings.Cut(path, ";")
	case SiteRepeater:
		if i := strings.LastIndex(path, "/"+repeated+"/"); i >= 0 {
			path = path[i:]
		}
	default:
	}
	if path == "/" {
		return 0, true
	}
	page, ok = numberIn(path)
	if !ok || page <= 0 || page >= w.site.cfg.PagesPerHost {
		return 0, false
	}
	return page, w.Path(host, page) == path
}

// Unfetched lists the real pages of an endless site that were not requested under any path. It also
// counts the wasted requests: answers with no real page, or with one that was served before.
func (w *Web) Unfetched(host int) (pages []string, wasted int) {
	seen := make([]bool, w.site.cfg.PagesPerHost)
	for _, r := range w.RequestsTo(host) {
		if r.Status != http.StatusOK || r.Path == "/robots.txt" || strings.HasPrefix(r.Path, "/sitemap") {
			continue
		}
		page, ok := w.PageAt(host, r.Path)
		if !ok || seen[page] {
			wasted++
			continue
		}
		seen[page] = true
	}
	for page := range seen {
		if !seen[page] {
			pages = append(pages, w.Path(host, page))
		}
	}
	return pages, wasted
}

// endless answers for a path of an endless site.
func (w *Web) endless(rw http.ResponseWriter, r *http.Request, host int, uri string) {
	b := &endlessPage{Web: w, host: host, url: r.URL}
	page, real := w.PageAt(host, uri)
	switch {
	case real:
		b.page(page)
	case w.site.cfg.Site == SiteCalendar && strings.HasPrefix(uri, "/calendar/") && b.calendar():
	case w.site.cfg.Site == SiteFacets && r.URL.Path == "/list":
		b.list()
	case w.site.cfg.Site == SiteSoft404:
		b.sorry()
	default:
		notFound(rw)
		return
	}
	b.WriteString("</body></html>\n")
	send(rw, r, typeHTML, []byte(b.String()))
}

// endlessPage writes one page.
type endlessPage struct {
	strings.Builder
	*Web
	host    int
	url     *url.URL
	session string // of this answer, as a suffix of paths
}

func (e *endlessPage) head(title string) {
	e.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title + "</title></head>\n<body>\n<h1>" +
		title + "</h1>\n")
}

// page writes a real page: its text, and links to its children and some other pages.
func (e *endlessPage) page(n int) {
	s := e.site
	r := rng(s.hash(e.host, n, saltBody))
	e.head(s.text.words[r.intn(wordCount)] + " " + s.text.words[r.intn(wordCount)])
	for range 4 {
		e.WriteString("<p>")
		for range 3 + r.intn(4) {
			e.WriteString(s.text.sentences[r.intn(sentenceCount)])
		}
		e.WriteString("</p>\n")
	}
	e.newSession()
	e.WriteString("<ul>\n")
	e.link(e.Path(e.host, 0), "home")
	for child := fanOut*n + 1; child <= fanOut*(n+1) && child < s.cfg.PagesPerHost; child++ {
		e.link(e.Path(e.host, child), "page "+strconv.Itoa(child))
	}
	for range 3 {
		to := r.intn(s.cfg.PagesPerHost)
		path := e.Path(e.host, to)
		if s.cfg.Site == SiteRepeater {
			path = path[1:]
		}
		e.link(path, "page "+strconv.Itoa(to))
	}
	e.doors(&r)
	e.WriteString("</ul>\n")
}

// doors writes the links from a real page to endless pages.
func (e *endlessPage) doors(r *rng) {
	words := e.site.text.words
	switch e.site.cfg.Site {
	case SiteCalendar:
		e.link("/calendar/2026/06", "calendar")
	case SiteFacets:
		e.link("/list", "all products")
	case SiteSoft404:
		e.link("/"+words[r.intn(wordCount)]+"/"+words[r.intn(wordCount)], "an old offer")
	default:
	}
}

func (e *endlessPage) link(to, text string) {
	if e.session != "" {
		path, query, _ := strings.Cut(to, "?")
		to = path + e.session
		if query != "" {
			to += "&amp;" + query
		}
	}
	e.WriteString("<li><a href=\"" + to + "\">" + text + "</a>\n")
}

// newSession generates the session id of this answer, if the site has session ids.
func (e *endlessPage) newSession() {
	id := func() string {
		return strconv.FormatUint(mix(e.site.cfg.Seed, saltTrap, e.sessions.Add(1)), 16)
	}
	switch e.site.cfg.Site {
	case SiteSessions:
		e.session = "?visit=" + id()
	case SiteKnownSessions:
		if e.sessions.Load()%2 == 0 {
			e.session = "?PHPSESSID=" + id()
		} else {
			e.session = ";jsessionid=" + id()
		}
	default:
	}
}

// calendar writes a month or a day. It returns false if the path is neither.
func (e *endlessPage) calendar() bool {
	parts := strings.Split(strings.Trim(e.url.Path, "/"), "/")
	var date []int
	for _, p := range parts[1:] {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 1<<20 {
			return false
		}
		date = append(date, n)
	}
	switch {
	case len(date) == 2 && date[1] >= 1 && date[1] <= 12:
		e.month(date[0], date[1])
	case len(date) == 3 && date[1] >= 1 && date[1] <= 12 && date[2] >= 1 && date[2] <= 31:
		e.day(date[0], date[1], date[2])
	default:
		return false
	}
	return true
}

var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
		"November", "December"}
	dayNames = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

// daysInMonth is precise enough for a calendar without events.
const daysInMonth = 30

func (e *endlessPage) month(year, month int) {
	e.head(monthNames[month-1] + " " + strconv.Itoa(year))
	e.WriteString("<p>There are no events in this month.</p>\n<ul>\n")
	m := year*12 + month - 1
	e.link(calendarPath(max(0, m-1)), "before")
	e.link(calendarPath(m+1), "after")
	for day := range daysInMonth {
		e.link(calendarPath(m)+dayPath(day), strconv.Itoa(day+1))
	}
	e.WriteString("</ul>\n")
}

func (e *endlessPage) day(year, month, day int) {
	n := (year*12+month-1)*daysInMonth + day - 1
	e.head(dayNames[n%len(dayNames)])
	e.WriteString("<p>There are no events on this day, the " + strconv.Itoa(day) + ".</p>\n<ul>\n")
	for _, to := range []int{max(0, n-1), n + 1} {
		e.link(calendarPath(to/daysInMonth)+dayPath(to%daysInMonth), "another day")
	}
	e.link(calendarPath(n/daysInMonth), "month")
	e.WriteString("</ul>\n")
}

func dayPath(day int) string { return "/" + strconv.Itoa((day+1)/10) + strconv.Itoa((day+1)%10) }

// sorry writes the answer for a nonexistent path, with links to more of them.
func (e *endlessPage) sorry() {
	h := mix(e.site.cfg.Seed, saltTrap)
	for _, c := range []byte(e.url.Path) {
		h = mix(h, uint64(c))
	}
	r, words := rng(h), e.site.text.words
	name := strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(e.url.Path)
	e.head("Oops")
	e.WriteString("<p>Sorry, " + name + " was not found, try these:</p>\n<ul>\n")
	for i := range 10 {
		a, z := words[r.intn(wordCount)], words[r.intn(wordCount)]
		e.link("/"+a+"/"+z+[...]string{"", ".html"}[i%2], a+" "+z)
	}
	e.WriteString("</ul>\n")
}

// filters of a product list: the name and its values.
var filters = [...][]string{
	{"color", "red", "blue"}, {"size", "small", "large"}, {"brand", "acme"}, {"material", "wool"}, {"sale", "yes"},
	{"stock", "yes"}, {"rating", "good"}, {"gift", "yes"},
}

// list writes a filtered product list, with links that append another filter or reverse the order
// of the filters.
func (e *endlessPage) list() {
	e.head("Products")
	query := e.url.RawQuery
	set := strings.FieldsFunc(query, func(c rune) bool { return c == '&' })
	h := mix(uint64(len(set)), uint64(e.host))
	r := rng(h)
	e.WriteString("<p>Showing " + strconv.Itoa(3+r.intn(50)) + " products.</p>\n<ul>\n")
	for range 5 {
		n := r.intn(e.site.cfg.PagesPerHost)
		e.link(e.Path(e.host, n), "product "+strconv.Itoa(n))
	}
	for _, f := range filters {
		if slices.ContainsFunc(set, func(p string) bool { return strings.HasPrefix(p, f[0]+"=") }) {
			continue
		}
		for _, value := range f[1:] {
			all := append(slices.Clone(set), f[0]+"="+value)
			e.link("/list?"+strings.Join(all, "&amp;"), value)
		}
	}
	if len(set) > 1 {
		slices.Reverse(set)
		e.link("/list?"+strings.Join(set, "&amp;"), "turn around")
	}
	e.WriteString("</ul>\n")
}
