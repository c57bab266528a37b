package pages

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/lazyregexp"
	"seine/internal/base/safeprint"
	"seine/internal/base/version"
	"seine/internal/ops/overview"
	"seine/internal/serve/audit"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// funcs are the functions of the templates.
func (s *server) funcs() template.FuncMap {
	return template.FuncMap{
		"path":        func(to string, query ...string) string { return s.link(to, query...) },
		"static":      func(name string) string { return s.Prefix + "/static/" + edition() + "/" + name },
		"clean":       safeprint.Text,
		"count":       count,
		"size":        size,
		"rate":        rate,
		"percent":     func(part float64) string { return fmt.Sprintf("%.0f%%", 100*part) },
		"isweb":       isWeb,
		"moment":      moment,
		"when":        func(t time.Time) template.HTML { return timeTag(t, "when") },
		"ago":         func(t time.Time) template.HTML { return timeTag(t, "ago") },
		"ms":          func(n int64) string { return (time.Duration(n) * time.Millisecond).String() },
		"stateof":     func(c overview.Crawl) overview.StateInWords { return c.StateInWords() },
		"took":        func(c overview.Crawl) string { return tookOf(&c).String() },
		"doing":       func(h frontierapi.HostStatus) string { return doing(&h) },
		"verdictmark": func(verdict string) string { return verdictMarks[verdict] },
		"action":      actionOf,
		"inpage":      inPageWords,
		"known":       func(crawl string) bool { return messages.CheckCrawl(crawl) == nil },
		"stored":      func(name string) string { return cmp.Or(streamWords[name], name) },
		"added":       func(line string) bool { return strings.HasPrefix(line, "+") },
		"timed":       timed,
		"int":         func(n int64) int { return int(n) },
		"plain":       func(text any) string { return safeprint.Lines(fmt.Sprintf("%s", text)) },
		"short":       func(d time.Duration) string { return d.Round(time.Second / 10).String() },
		"within":      func(all, name string) bool { return slices.Contains(strings.Fields(all), name) },
		"list":        func(all ...any) []any { return all },
		"meaning":     meaning,
		"version":     version.String,
		"segment":     url.PathEscape,
	}
}

// actionOf describes a write.
func actionOf(e audit.Entry) string {
	if e.Action == "" { // the request reached no operation of the API
		return safeprint.Text(e.Method + " " + e.Path)
	}
	return strings.ReplaceAll(e.Action, "-", " ")
}

// link returns the address of a page. query has names and values; empty values are dropped.
func (s *server) link(to string, query ...string) string {
	return s.Prefix + withQuery(to, make(url.Values), query)
}

// withQuery returns a path with query parameters replaced; empty values are dropped.
func withQuery(to string, q url.Values, query []string) string {
	for i := 0; i+1 < len(query); i += 2 {
		q.Del(query[i])
		if query[i+1] != "" {
			q.Set(query[i], query[i+1])
		}
	}
	if len(q) == 0 {
		return to
	}
	return to + "?" + q.Encode()
}

// same returns the address of the current page with changes to its query.
func (s *server) same(r *http.Request, query ...string) string {
	to := s.Prefix + r.URL.EscapedPath()
	if s.Prefix != "" && strings.HasPrefix(r.URL.EscapedPath(), s.Prefix+"/") {
		to = r.URL.EscapedPath()
	}
	return withQuery(to, r.URL.Query(), query)
}

// count formats an integer of any type with thousands separators.
func count(n any) string { return humanize.Count(whole(n)) }

func size(n any) string { return humanize.Size(whole(n)) }

// whole converts an integer of any type.
func whole(n any) int64 {
	v := reflect.ValueOf(n)
	if v.CanUint() {
		return int64(v.Uint())
	}
	return v.Int()
}

// rate formats a rate per second with significant digits.
func rate(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0/s"
	case perSecond < 10:
		return fmt.Sprintf("%.1f/s", perSecond)
	default:
		return humanize.Count(int64(perSecond+0.5)) + "/s"
	}
}

// isWeb reports whether a URL may be a link.
func isWeb(u string) bool { return strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://") }

// moment converts Unix milliseconds to a time; 0 is the zero time.
func moment(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// timeTag formats a time in UTC. A script replaces it by the time in the reader's zone ("when"), or
// by the time from now ("ago").
func timeTag(t time.Time, how string) template.HTML {
	if t.IsZero() {
		return "–"
	}
	t = t.UTC()
	//nolint:gosec // digits alone
	return template.HTML(fmt.Sprintf(`<time datetime="%s" data-%s>%s</time>`, t.Format(time.RFC3339Nano), how, t.Format("2006-01-02 15:04:05 UTC")))
}

// streamWords are the words for a message of each stream.
var streamWords = map[string]string{
	messages.StreamFetch: "request", messages.StreamResults: "result", messages.StreamPages: "page", messages.StreamRecords: "record", messages.StreamDead: "dead letter",
}

// words explain states of the frontier and the fetchers.
var words = map[string]string{
	"asked":        "a request is in flight",
	"due":          "may get a request now",
	"delay":        "rests between two requests",
	"backoff":      "rests after a failure",
	"retry_after":  "asked for a pause (Retry-After)",
	"breaker_open": "failed too often in a row, and is tried again later",
	"hours":        "is outside its crawl hours",
	"parked":       "it or its crawl is paused, or the budget is spent",
	"given_up":     "failed for so long that the frontier abandoned it",

	"ok": "answers with a page", "not_modified": "answers that a page is unchanged", "redirect": "leads to another URL",
	"client_error": "the host refuses (4xx)", "gone": "not there (404, 410)", "throttled": "the host wants fewer requests (429, 503)",
	"server_error": "the host fails (5xx)", "robots_denied": "disallowed by robots.txt", "robots_fetched": "a request for robots.txt",
	"refused_address": "the address is private and refused", "dns_failure": "the name does not resolve",
	"connect_failure": "no connection", "tls_failure": "no trusted TLS session", "timeout": "no answer in time",
	"stalled": "the body stopped coming", "too_large": "larger than the limit", "bad_encoding": "cannot be decompressed",
	"protocol_error": "not HTTP, or cut short", "unsupported_type": "of a type that is not kept",
	"blocked": "a challenge or a CAPTCHA in place of the page", "proxy_failure": "no way through the proxy",
	"misconfigured": "the spec needs something that the fetcher lacks", "cancelled": "was cancelled",
	"parse_error": "the page could not be parsed", "host_given_up": "its host failed too often in a row",
}

// meaning returns the explanation of a state, "" if it needs none.
func meaning(word any) string { return words[fmt.Sprint(word)] }

var rfc3339 = lazyregexp.New(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// timed escapes a text and marks the times in it.
func timed(text string) template.HTML {
	escaped := template.HTMLEscapeString(safeprint.Text(text))
	return template.HTML(rfc3339().ReplaceAllString(escaped, `<time datetime="$0" data-when>$0</time>`)) //nolint:gosec // escaped text and digits
}
