package testweb

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// trapEntries are the entry paths of the traps, in the order of link.n.
var trapEntries = [...]string{"/calendar/2024/01", "/session/list?sid=start", "/maze/a/b/", "/soft/old-offer.html"}

// IsTrap reports whether a path, given as in a Request, is inside one of the traps.
func IsTrap(path string) bool {
	folder, _, nested := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return nested && isTrapFolder(folder)
}

func isTrapFolder(folder string) bool {
	switch folder {
	case "calendar", "session", "maze", "soft":
		return true
	}
	return false
}

// trap answers 200 for every path below a trap's folder, with links that lead deeper.
func (sp sitePages) trap(rw http.ResponseWriter, r *http.Request, folder string) {
	var body string
	switch folder {
	case "calendar":
		body = calendarPage(r.URL.Path)
	case "session":
		body = sp.sessionPage(r.URL.Query().Get("sid"))
	case "maze":
		body = "<h1>Maze</h1>\n<p><a href=\"a/b/\">in</a> <a href=\"b/a/\">on</a> <a href=\"../\">out</a></p>\n"
	default:
		body = sp.softPage(r.URL.Path)
	}
	send(rw, r, typeHTML, []byte("<!DOCTYPE html>\n<html><head><title>"+folder+"</title></head>\n<body>\n"+
		body+"<p><a href=\"/\">Home</a></p>\n</body></html>\n"))
}

// calendarPage links the previous and next months, for ever.
func calendarPage(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	year, month := 2024, 1
	if len(parts) >= 3 {
		year, month = number(parts[1], year), number(parts[2], month)
	}
	m := year*12 + month - 1
	return fmt.Sprintf("<h1>%d-%02d</h1>\n<p><a href=\"%s\">before</a> <a href=\"%s\">after</a></p>\n",
		year, month, calendarPath(m-1), calendarPath(m+1))
}

func calendarPath(m int) string { return fmt.Sprintf("/calendar/%04d/%02d", m/12, m%12+1) }

func number(s string, def int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<20 {
		return def
	}
	return n
}

// sessionPage always has the same two items, with new session ids each time.
func (sp sitePages) sessionPage(sid string) string {
	h := mix(sp.site.cfg.Seed, saltTrap)
	for _, c := range []byte(sid) {
		h = mix(h, uint64(c))
	}
	next := strconv.FormatUint(h, 36)
	return "<h1>List</h1>\n<p><a href=\"/session/list?sid=" + next + "\">list</a>" +
		" <a href=\"/session/item;jsessionid=" + next + "?sid=" + next + "\">item</a></p>\n"
}

// softPage says "not found" with status 200, and links more pages of its kind.
func (sp sitePages) softPage(path string) string {
	h := mix(sp.site.cfg.Seed, saltTrap, uint64(len(path)))
	for _, c := range []byte(path) {
		h = mix(h, uint64(c))
	}
	a, b := sp.site.text.words[h%wordCount], sp.site.text.words[h>>16%wordCount]
	return "<h1>Page not found</h1>\n<p>Sorry, this offer has ended. Try <a href=\"/soft/" + a + "-" + b +
		".html\">another</a> or <a href=\"/soft/" + b + ".html\">this</a>.</p>\n"
}
