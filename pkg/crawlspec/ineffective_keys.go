package crawlspec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Ineffective says of each key of the spec that does nothing, alone or beside another,
// that it does, and why. Such a spec is valid: what is stored stays what it was.
func (s *Spec) Ineffective() (found []string) {
	note := func(is bool, key, format string, a ...any) {
		if is {
			found = append(found, key+": does nothing "+fmt.Sprintf(format, a...))
		}
	}
	s.idleSeeds(note)
	s.idleScope(note)
	s.idlePatterns(note)
	s.idleRules(note)
	s.idlePace(note)
	s.idleFetch(note)
	s.idleRender(note)
	s.idleRecords(note)
	s.idleSections(note)
	s.idleAlerts(note)
	return found
}

// noter is told of a key whether it does nothing, and why.
type noter func(is bool, key, format string, a ...any)

func (s *Spec) idleSeeds(note noter) {
	hidden := len(s.Records) == 0 && len(s.Page.Fields) > 0 && !slices.Contains(s.Page.Fields, FieldMetadata)
	for i := range s.Seeds {
		seed, key := &s.Seeds[i], fmt.Sprintf("seeds[%d].metadata", i)
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

func (s *Spec) idleScope(note noter) {
	note(s.Scope == ScopeAny && len(s.Hosts) > 0, "hosts", "beside scope: any, which has all hosts")
	note(s.Scope == ScopeAny && len(s.Domains) > 0, "domains", "beside scope: any, which has all hosts")
	most := s.MaxPagesPerHost
	note(s.MaxPages > 0 && most > s.MaxPages, "max_pages_per_host", "beside a smaller max_pages: %d", s.MaxPages)
}

// idlePatterns finds patterns that no URL matches: each is compared with the whole URL, or
// with its path.
func (s *Spec) idlePatterns(note noter) {
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
	look("include", s.Include...)
	look("exclude", s.Exclude...)
	for i := range s.Priorities {
		match("priorities", i, s.Priorities[i].Match)
	}
	for i := range s.Recrawl {
		match("recrawl", i, s.Recrawl[i].Match)
	}
	for i := range s.Requests {
		match("requests", i, s.Requests[i].Match)
	}
	for i := range s.Records {
		match("records", i, s.Records[i].Match...)
	}
	for i := range s.Follow {
		match("follow", i, s.Follow[i].Match...)
	}
	if s.MayRender() {
		for i := range s.Render.Modes {
			match("render.modes", i, s.Render.Modes[i].Match...)
		}
		look("render.block.urls", s.Render.Block.URLs...)
		look("render.capture", s.Render.Capture...)
	}
}

// insteadOf says of a pattern that no URL matches why that is, and what may be meant.
func insteadOf(pattern string) string {
	expr, isRegexp := strings.CutPrefix(pattern, "re:")
	if !isRegexp {
		return fmt.Sprintf("as %q is not a whole URL: write %q for what is anywhere in one, %q for a path", pattern, "*"+strings.TrimSuffix(pattern, "*")+"*", "/"+pattern)
	}
	why := fmt.Sprintf("as %q is compared with whole URLs, which begin with http:// or https://", pattern)
	if path, ok := strings.CutPrefix(expr, "^/"); ok {
		return why + fmt.Sprintf(`: write "re:^https?://[^/]*/%s" for a path`, path)
	}
	return why + ": without ^ it is found anywhere in one"
}

// idleRules finds rules behind one that matches everything: the first that matches decides.
func (s *Spec) idleRules(note noter) {
	behind := func(key string, n int, isAll func(int) bool) {
		for i := range n - 1 {
			if isAll(i) {
				note(true, fmt.Sprintf("%s[%d]", key, i+1), "after the rule before it, which matches every URL: the first that matches decides")
				return
			}
		}
	}
	behind("priorities", len(s.Priorities), func(i int) bool { return s.Priorities[i].Match == "*" })
	behind("recrawl", len(s.Recrawl), func(i int) bool { return s.Recrawl[i].Match == "*" })
	behind("requests", len(s.Requests), func(i int) bool { return s.Requests[i].Match == "*" })
	if s.MayRender() {
		modes := s.Render.Modes
		behind("render.modes", len(modes), func(i int) bool { return slices.Contains(modes[i].Match, "*") })
	}
}

func (s *Spec) idlePace(note noter) {
	hours := len(s.Hours) > 0
	lone, factor := s.Delay > 0, s.Delay == 0
	for i := range s.Sources {
		src := &s.Sources[i]
		pace, _ := s.SourcePace(i)
		key := func(name string) string { return fmt.Sprintf("sources[%d].%s", i, name) }
		lone = lone && (pace.Delay > 0 || src.PerHost != nil)
		factor = factor && (pace.Delay == 0 || src.DelayFactor != nil)
		hours = hours || len(src.Hours) > 0 && src.TimeZone == nil
		note(src.PerHost != nil && *src.PerHost > 1 && pace.Delay > 0, key("per_host"), besideDelay, pace.Delay)
		note(src.DelayFactor != nil && *src.DelayFactor > 0 && pace.Delay == 0, key("delay_factor"), "without a delay")
		note(src.TimeZone != nil && len(pace.Hours) == 0, key("time_zone"), "without hours")
		only := HostRule{Hosts: src.Hosts}
		note(reflect.DeepEqual(*src, only), fmt.Sprintf("sources[%d]", i), "but name hosts: say what is different for them")
	}
	note(lone && s.PerHost > 1, "per_host", besideDelay, s.Delay)
	note(factor && s.DelayFactor != 0 && s.DelayFactor != DefaultDelayFactor, "delay_factor", "without a delay")
	note(s.TimeZone != "" && s.Schedule == "" && !hours, "time_zone", "without hours or a schedule")
}

const besideDelay = "beside a delay of %s, which means one request at a time: delay: 0s lets several go"

func (s *Spec) idleFetch(note noter) {
	note(s.ProductToken() == "Mozilla", "user_agent", "for robots.txt, which is searched for Mozilla: add \"(compatible; mybot/1.0)\" with your crawler's name")
	note(s.Contact != "" && s.UserAgent != DefaultUserAgent, "contact", "beside a user_agent of your own: write it into that")
	note(s.Contact != "" && s.UserAgent == DefaultUserAgent && len(s.UserAgents) > 0, "contact", "beside user_agents: write it into these")
	idle := func(t *TLS) bool { return t != nil && t.Insecure && t.CA != "" }
	note(idle(s.TLS), "tls.ca", "beside insecure, which takes any certificate")
	for i := range s.Sources {
		note(idle(s.Sources[i].TLS), fmt.Sprintf("sources[%d].tls.ca", i), "beside insecure, which takes any certificate")
	}
}

func (s *Spec) idleRecords(note noter) {
	note(s.Page.Emit == EmitNever && len(s.Page.Fields) == 0 && len(s.Records) == 0 && !s.Archive, "page.emit", "but keep pages from making records, as never without rules in records: the crawl makes none at all")
	note(s.Page.Emit == EmitNever && len(s.Page.Fields) > 0, "page.fields", "beside emit: never, which makes no records of pages")
	note(!s.EmitsPage() && s.Page.When != nil, "page.when", "where pages have no records of their own: it is not for those of rules, which have a when each")
	note(s.Page.When.isLanguage(), "page.when",
		"as a selector, since no page has such an element: for pages in a language, write {language: %s}", s.Page.When.selector())
	note(s.Duplicates.Near == DuplicateKeep && s.Duplicates.Distance != DefaultDistance, "duplicates.distance", "without near: mark or drop")
	note(s.Archive && len(s.Mask.Fields) > 0, "mask", "in archives, which have pages as they came: personal data is in them")
}

// idleSections finds slips around each: {from: sections}.
func (s *Spec) idleSections(note noter) {
	tag := func(path string, e *Each) {
		note(e != nil && e.CSS == "sections", path, "as a selector, since no page has such an element: for the parts between headings, write {from: sections}")
	}
	for i := range s.Records {
		r, path := &s.Records[i], fmt.Sprintf("records[%d]", i)
		tag(path+".each", r.Each)
		note(r.keyIsPosition(), path+".key",
			"to tell records apart: all pages have the same positions, and what is at one changes with its page: leave it out, or write a field {from: url} into it")
	}
	for i := range s.Follow {
		tag(fmt.Sprintf("follow[%d].each", i), s.Follow[i].Each)
	}
}

// keyIsPosition reports whether the keys of sections are made of nothing but where these are
// on their pages.
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

// isLanguage reports whether the condition is the code of a language, where a selector
// should be. Those that are elements of HTML are none: tr, th, li, br.
func (c *Condition) isLanguage() bool {
	return slices.Contains([]string{"en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "uk", "cs", "sv", "da", "fi", "ja", "zh", "ko", "ar"}, c.selector())
}

func (s *Spec) idleAlerts(note noter) {
	a, d := &s.Alerts, DefaultAlerts()
	off := a.ErrorRate == 0 && !slices.Contains([]Alerts{d, {}}, *a)
	note(off && a.Blocked == 0 && a.Over != d.Over && a.Over != 0, "alerts.over", "without an error_rate or blocked")
	note(off && a.MinRequests != d.MinRequests && a.MinRequests != 0, "alerts.min_requests", "without an error_rate")
	note(a.AllowPrivate && a.Webhook == "", "alerts.allow_private", "without a webhook")
}
