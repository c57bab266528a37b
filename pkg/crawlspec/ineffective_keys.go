package crawlspec

import (
	"fmt"
	"slices"
	"strings"
)

// idleKeys finds keys that have no effect beside the other keys of a spec.
type idleKeys struct{ *Spec }

// Ineffective describes each key of the spec that has no effect, alone or beside another key, with
// the reason. Such a spec is valid, so that stored specs stay valid.
func (s *Spec) Ineffective() (found []string) {
	k := idleKeys{s}
	note := func(is bool, key, format string, a ...any) {
		if is {
			found = append(found, key+": does nothing "+fmt.Sprintf(format, a...))
		}
	}
	k.idleSeeds(note)
	k.idleScope(note)
	k.idlePatterns(note)
	k.idleRules(note)
	k.idlePace(note)
	k.idleHosts(note)
	k.idleFetch(note)
	k.idleRender(note)
	k.idleRecords(note)
	k.idleSections(note)
	k.idleAlerts(note)
	return found
}

// noter is called with a key, whether it has no effect, and the reason.
type noter func(is bool, key, format string, a ...any)

func (k idleKeys) idleSeeds(note noter) {
	hidden := len(k.Records) == 0 && k.Chunks == nil && len(k.Page.Fields) > 0 && !slices.Contains(k.Page.Fields, FieldMetadata)
	for i := range k.Seeds {
		seed, key := &k.Seeds[i], fmt.Sprintf("seeds[%d].metadata", i)
		switch {
		case len(seed.Metadata) == 0:
		case hidden:
			note(true, key, "without metadata in page.fields, because the crawl has no other records")
			return
		case !seed.Inherit:
			note(seed.Sitemap != "", key, "for a sitemap, which makes no record, without inherit: true")
		}
	}
}

func (k idleKeys) idleScope(note noter) {
	note(k.Scope == ScopeAny && len(k.Hosts) > 0, "hosts", "beside scope: any, which has all hosts")
	note(k.Scope == ScopeAny && len(k.Domains) > 0, "domains", "beside scope: any, which has all hosts")
	most := k.MaxPagesPerHost
	note(k.MaxPages > 0 && most > k.MaxPages, "max_pages_per_host", "beside a smaller max_pages: %d", k.MaxPages)
}

// idlePatterns finds patterns that no URL matches. Each pattern is compared with the whole URL, or
// with its path.
func (k idleKeys) idlePatterns(note noter) {
	look := func(key string, patterns ...string) {
		for i, p := range patterns {
			at := key
			if len(patterns) > 1 || !strings.HasSuffix(key, ".match") {
				at = fmt.Sprintf("%s[%d]", key, i)
			}
			if re, err := CompilePattern(p); err == nil && matchesNoURL(re) {
				note(true, at, "%s", insteadOf(p))
			}
		}
	}
	match := func(key string, i int, patterns ...string) { look(fmt.Sprintf("%s[%d].match", key, i), patterns...) }
	look("include", k.Include...)
	look("exclude", k.Exclude...)
	for i := range k.Priorities {
		match("priorities", i, k.Priorities[i].Match)
	}
	for i := range k.Recrawl {
		match("recrawl", i, k.Recrawl[i].Match)
	}
	for i := range k.Requests {
		match("requests", i, k.Requests[i].Match)
	}
	for path, r := range k.Rules() {
		look(path+".match", r.Match...)
	}
	for i := range k.Follow {
		match("follow", i, k.Follow[i].Match...)
	}
	if k.MayRender() {
		for i := range k.Render.Modes {
			match("render.modes", i, k.Render.Modes[i].Match...)
		}
		look("render.block.urls", k.Render.Block.URLs...)
		look("render.capture", k.Render.Capture...)
	}
}

// insteadOf describes why no URL matches a pattern, and what may be meant.
func insteadOf(pattern string) string {
	expr, isRegexp := strings.CutPrefix(pattern, "re:")
	if !isRegexp {
		path := "/" + pattern
		if strings.HasSuffix(path, "/") { // for everything below it
			path += "*"
		}
		return fmt.Sprintf("as %q is not a whole URL: write %q for what is anywhere in one, %q for a path", pattern, "*"+strings.TrimSuffix(pattern, "*")+"*", path)
	}
	why := fmt.Sprintf("as %q is compared with whole URLs, which begin with http:// or https://", pattern)
	if path, ok := strings.CutPrefix(expr, "^/"); ok {
		return why + fmt.Sprintf(`: write "re:^https?://[^/]*/%s" for a path`, path)
	}
	return why + ": without ^ it is found anywhere in one"
}

// idleRules finds rules after one that matches everything: the first that matches decides.
func (k idleKeys) idleRules(note noter) {
	behind := func(key string, n int, isAll func(int) bool) {
		for i := range n - 1 {
			if isAll(i) {
				note(true, fmt.Sprintf("%s[%d]", key, i+1), "after the rule before it, which matches every URL: the first that matches decides")
				return
			}
		}
	}
	behind("priorities", len(k.Priorities), func(i int) bool { return k.Priorities[i].Match == "*" })
	behind("recrawl", len(k.Recrawl), func(i int) bool { return k.Recrawl[i].Match == "*" })
	behind("requests", len(k.Requests), func(i int) bool { return k.Requests[i].Match == "*" })
	if k.MayRender() {
		modes := k.Render.Modes
		behind("render.modes", len(modes), func(i int) bool { return slices.Contains(modes[i].Match, "*") })
	}
}

func (k idleKeys) idlePace(note noter) {
	hours := len(k.Hours) > 0
	lone, factor := k.Delay > 0, k.Delay == 0
	for i := range k.Sources {
		src := &k.Sources[i]
		pace, _ := k.SourcePace(i)
		key := func(name string) string { return fmt.Sprintf("sources[%d].%s", i, name) }
		lone = lone && (pace.Delay > 0 || src.PerHost != nil)
		factor = factor && (pace.Delay == 0 || src.DelayFactor != nil)
		hours = hours || len(src.Hours) > 0 && src.TimeZone == nil
		note(src.PerHost != nil && *src.PerHost > 1 && pace.Delay > 0, key("per_host"), besideDelay, pace.Delay)
		note(src.DelayFactor != nil && *src.DelayFactor > 0 && pace.Delay == 0, key("delay_factor"), "without a delay")
		note(src.TimeZone != nil && len(pace.Hours) == 0, key("time_zone"), "without hours")
		note(src.isEmpty(), fmt.Sprintf("sources[%d]", i), "but name hosts: set a key for them")
	}
	note(lone && k.PerHost > 1, "per_host", besideDelay, k.Delay)
	note(factor && k.DelayFactor != 0 && k.DelayFactor != DefaultDelayFactor, "delay_factor", "without a delay")
	note(k.TimeZone != "" && k.Schedule == "" && !hours, "time_zone", "without hours or a schedule")
}

const besideDelay = "beside a delay of %s, which means one request at a time: delay: 0s lets several go"

// idleHosts finds hosts of a source that an earlier source names.
func (k idleKeys) idleHosts(note noter) {
	before := make(map[hostEntry]bool)
	for i := range k.Sources {
		hosts := k.Sources[i].Hosts
		for j, entry := range hosts {
			note(parseHostEntry(entry).isIn(before), fmt.Sprintf("sources[%d].hosts[%d]", i, j), "behind a source that names %s too: the first one applies", entry)
		}
		for _, entry := range hosts {
			before[parseHostEntry(entry)] = true
		}
	}
}

// isIn reports whether one of the entries covers all hosts of e.
func (e hostEntry) isIn(entries map[hostEntry]bool) bool {
	if entries[e] || !e.domain && entries[hostEntry{name: e.name}] {
		return true
	}
	for name, more := e.name, true; more; _, name, more = strings.Cut(name, ".") {
		if entries[hostEntry{name: name, domain: true}] {
			return true
		}
	}
	return false
}

func (k idleKeys) idleFetch(note noter) {
	note(k.ProductToken() == "Mozilla", "user_agent", "for robots.txt, which is searched for Mozilla: add \"(compatible; mybot/1.0)\" with your crawler's name")
	note(k.Contact != "" && k.UserAgent != DefaultUserAgent, "contact", "beside a user_agent of your own: write it into that")
	note(k.Contact != "" && k.UserAgent == DefaultUserAgent && len(k.UserAgents) > 0, "contact", "beside user_agents: write it into these")
	idle := func(t *TLS) bool { return t != nil && t.Insecure && t.CA != "" }
	note(idle(k.TLS), "tls.ca", "beside insecure, which takes any certificate")
	for i := range k.Sources {
		note(idle(k.Sources[i].TLS), fmt.Sprintf("sources[%d].tls.ca", i), "beside insecure, which takes any certificate")
	}
}

func (k idleKeys) idleRecords(note noter) {
	note(k.Page.Emit == EmitNever && len(k.Page.Fields) == 0 && len(k.Kinds()) == 0 && !k.Archive, "page.emit", "but keep pages from making records, as never without rules in records: the crawl makes none at all")
	note(k.Page.Emit == EmitNever && len(k.Page.Fields) > 0, "page.fields", "beside emit: never, which makes no records of pages")
	note(!k.EmitsPage() && k.Page.When != nil, "page.when", "where pages have no records of their own: it is not for those of rules, which have a when each")
	note(k.Page.When.isLanguage(), "page.when",
		"as a selector, since no page has such an element: for pages in a language, write {language: %s}", k.Page.When.selector())
	note(k.Duplicates.Near == DuplicateKeep && k.Duplicates.Distance != DefaultDistance, "duplicates.distance", "without near: mark or drop")
	note(k.Archive && len(k.Mask.Fields) > 0, "mask", "in archives, which have pages as they came: personal data is in them")
}

// idleSections finds mistakes around each: {from: sections}.
func (k idleKeys) idleSections(note noter) {
	tag := func(path string, e *Each) {
		note(e != nil && e.CSS == "sections", path, "as a selector, since no page has such an element: for the parts between headings, write {from: sections}")
	}
	for i := range k.Records {
		r, path := &k.Records[i], fmt.Sprintf("records[%d]", i)
		tag(path+".each", r.Each)
		note(r.keyIsPosition(), path+".key",
			"to tell records apart: all pages have the same positions, and what is at one changes with its page: leave it out, or write a field {from: url} into it")
	}
	for i := range k.Follow {
		tag(fmt.Sprintf("follow[%d].each", i), k.Follow[i].Each)
	}
}

// keyIsPosition reports whether the keys of sections consist only of their positions on their
// pages.
func (r *RecordRule) keyIsPosition() bool {
	places := r.Key.Placeholders()
	if r.Each == nil || r.Each.From != "sections" || len(places) == 0 {
		return false
	}
	for _, p := range places {
		i := slices.IndexFunc(r.Fields, func(f NamedField) bool { return f.Name == p.Name })
		if i < 0 || r.Fields[i].Field.Get != "@position" && r.Fields[i].Field.Get != "@level" || !r.Fields[i].Field.None() {
			return false
		}
	}
	return true
}

// selector returns the CSS selector of a condition, "" if it has none.
func (c *Condition) selector() string {
	if c == nil {
		return ""
	}
	return c.CSS
}

// isLanguage reports whether the condition's selector is a language code, which was probably meant
// as a language. It excludes codes that are HTML elements: tr, th, li, br.
func (c *Condition) isLanguage() bool {
	return slices.Contains([]string{"en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "uk", "cs", "sv", "da", "fi", "ja", "zh", "ko", "ar"}, c.selector())
}

func (k idleKeys) idleAlerts(note noter) {
	a, d := &k.Alerts, DefaultAlerts()
	off := a.ErrorRate == 0 && !slices.Contains([]Alerts{d, {}}, *a)
	note(off && a.Blocked == 0 && a.Over != d.Over && a.Over != 0, "alerts.over", "without an error_rate or blocked")
	note(off && a.MinRequests != d.MinRequests && a.MinRequests != 0, "alerts.min_requests", "without an error_rate")
	note(a.AllowPrivate && a.Webhook == "", "alerts.allow_private", "without a webhook")
}
