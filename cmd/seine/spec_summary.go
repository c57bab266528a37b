package main

import (
	"fmt"
	"io"
	"strings"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// describe writes what a spec says: where it leads, what it follows, which records
// it makes.
func describe(w io.Writer, s *crawlspec.Spec) {
	row := func(name, format string, a ...any) {
		safeprint.Fprintf(w, "  %-9s %s\n", name, fmt.Sprintf(format, a...))
	}
	scope := map[crawlspec.Scope]string{
		crawlspec.ScopeHost: "the hosts of the seeds", crawlspec.ScopeDomain: "the domains of the seeds", crawlspec.ScopeAny: "any host",
	}[s.Scope]
	if len(s.Seeds) > 0 {
		row("starts at", "%s", seedsOf(s))
	}
	row("enters", "%s%s%s", scope, list(", and ", s.Hosts), list(", and all of ", s.Domains))
	if len(s.Include) > 0 {
		row("only", "%s", patterns(s.Include))
	}
	if len(s.Exclude) > 0 {
		row("not", "%s", patterns(s.Exclude))
	}
	if limits := limits(s); limits != "" {
		row("at most", "%s", limits)
	}
	for _, line := range credentials(s) {
		row("secrets", "%s", line)
	}
	if s.MayRender() {
		row("renders", "%s", rendered(s.Render))
	}
	describeRecords(w, s)
	if s.Schedule != "" {
		row("again", "%s", s.Schedule)
	}
	for _, r := range s.Recrawl {
		row("again", "%s: a crawl with such a rule does not end by itself", revisited(&r))
	}
	if s.Keep > 0 {
		row("deleted", "%s after its end; its output stays", s.Keep)
	}
}

// describeRecords writes which links a spec follows and which records it makes.
func describeRecords(w io.Writer, s *crawlspec.Spec) {
	row := func(name, format string, a ...any) {
		safeprint.Fprintf(w, "  %-9s %s\n", name, fmt.Sprintf(format, a...))
	}
	row("follows", "%s", kinds(s))
	for i := range s.Follow {
		row("follows", "%s", followed(&s.Follow[i]))
	}
	if s.EmitsPage() {
		row("record", "of each page%s: %s", onCondition(s.Page.When), fieldsOfPage(s))
	}
	for i := range s.Records {
		row("record", "%s", recorded(&s.Records[i]))
	}
	if s.Gone == crawlspec.WhenGoneRecord {
		row("record", "%s, of each page with records that is not there any more", messages.KindGone)
	}
	if len(s.Mask.Kinds) > 0 {
		row("masks", "%s in %s", strings.Join(s.Mask.Kinds, ", "), strings.Join(s.Mask.Fields, ", "))
	}
}

// seedsOf names the seeds of a spec.
func seedsOf(s *crawlspec.Spec) string {
	var all []string
	for i := range s.Seeds {
		all = append(all, s.Seeds[i].Address())
	}
	return patterns(all)
}

// credentials says which credentials go to which origins.
func credentials(s *crawlspec.Spec) []string {
	var lines []string
	to := func(what string, origins ...string) {
		for i, o := range origins {
			if strings.HasPrefix(o, "http://") {
				origins[i] += " (in the clear)"
			}
		}
		lines = append(lines, what+" to "+strings.Join(origins, ", ")+" alone")
	}
	for i := range s.Sources {
		if names := s.Sources[i].Credentials(); names != nil {
			to(strings.Join(names, ", "), s.Sources[i].TrustedOrigins()...)
		}
	}
	for i := range s.Requests {
		if origin := s.Requests[i].SecretsTo(); origin != "" {
			to("those of the rule for "+s.Requests[i].Match, origin)
		}
	}
	if s.Render != nil && s.Render.Login.SecretsTo() != "" {
		to("those of the login", s.Render.Login.SecretsTo())
	}
	return lines
}

func list(before string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return before + strings.Join(names, ", ")
}

// fewPatterns is how many patterns are shown.
const fewPatterns = 4

func patterns(all []string) string {
	if len(all) <= fewPatterns {
		return strings.Join(all, "  ")
	}
	return fmt.Sprintf("%s  and %d more", strings.Join(all[:fewPatterns], "  "), len(all)-fewPatterns)
}

func limits(s *crawlspec.Spec) string {
	var all []string
	if s.MaxPages > 0 {
		all = append(all, humanize.Count(s.MaxPages)+" pages")
	}
	if s.MaxBytes > 0 {
		all = append(all, s.MaxBytes.String())
	}
	if s.MaxDuration > 0 {
		all = append(all, s.MaxDuration.String())
	}
	if s.MaxDepth != nil {
		all = append(all, humanize.Plural(*s.MaxDepth, "link")+" from a seed")
	}
	return strings.Join(all, ", ")
}

// kinds says which links are followed by their kind.
func kinds(s *crawlspec.Spec) string {
	var all []string
	if len(s.Links.Follow) > 0 {
		all = append(all, "links of these kinds: "+strings.Join(s.Links.Follow, ", "))
	}
	if len(s.Links.Attributes) > 0 {
		all = append(all, "URLs in "+strings.Join(s.Links.Attributes, ", "))
	}
	if s.Sitemaps {
		all = append(all, "sitemaps")
	}
	if len(all) == 0 {
		return "no links"
	}
	return strings.Join(all, "; ")
}

func followed(r *crawlspec.FollowRule) string {
	how := "what " + selected(&r.Selector) + " finds"
	switch {
	case r.URL != "":
		how = string(r.URL)
	case r.Paginate != nil:
		how = fmt.Sprintf("parameter %s, counted up", r.Paginate.Parameter)
	case r.Selector.None():
		how = "what " + r.Get + " has"
	}
	if r.Each != nil {
		how += ofEach(r.Each)
	}
	if r.Priority != nil {
		how += fmt.Sprintf(", priority %d", *r.Priority)
	}
	return how + target(&r.Target)
}

func recorded(r *crawlspec.RecordRule) string {
	required := 0
	for i := range r.Fields {
		if r.Fields[i].Required {
			required++
		}
	}
	out := fmt.Sprintf("%s, %d field", r.Kind, len(r.Fields))
	if len(r.Fields) != 1 {
		out += "s"
	}
	if required > 0 {
		out += fmt.Sprintf(" (%d required)", required)
	}
	if r.Each != nil {
		out += ofEach(r.Each)
	}
	if len(r.Schema) > 0 {
		out += ", by a schema"
	}
	return out + target(&r.Target)
}

// ofEach says what there is one record, or one link, of.
func ofEach(e *crawlspec.Each) string {
	if e.From != "" {
		return map[string]string{"main": ", of the main content", "sections": ", for each section of the main content"}[e.From]
	}
	return ", for each " + selected(&e.Selector)
}

// selected is a selector as it is written.
func selected(s *crawlspec.Selector) string {
	var all []string
	for _, e := range [...]struct{ key, text string }{
		{"css", s.CSS}, {"xpath", s.XPath}, {"json_ld", s.JSONLD}, {"meta", s.Meta}, {"regex", s.Regex}, {"jq", s.JQ},
	} {
		if e.text != "" {
			all = append(all, e.key+" "+e.text)
		}
	}
	return strings.Join(all, ", ")
}

// target says on which pages a rule applies.
func target(t *crawlspec.Target) string {
	out := ""
	if len(t.Types) > 0 {
		out += ", on " + strings.Join(t.Types, ", ")
	}
	if len(t.Match) > 0 {
		out += ", at " + patterns(t.Match)
	}
	return out + onCondition(t.When)
}

// onCondition says that there is a condition, and which languages it asks for.
func onCondition(c *crawlspec.Condition) string {
	switch {
	case c == nil:
		return ""
	case len(c.Language) > 0:
		return " in " + strings.Join(c.Language, ", ")
	case len(c.TextLanguage) > 0:
		return " with text in " + strings.Join(c.TextLanguage, ", ")
	}
	return ", on condition"
}

func fieldsOfPage(s *crawlspec.Spec) string {
	if len(s.Page.Fields) == 0 {
		return "the default fields"
	}
	return strings.Join(s.Page.Fields, ", ")
}

// revisited says which pages a rule fetches again, and when.
func revisited(r *crawlspec.RecrawlRule) string {
	if r.Every > 0 {
		return fmt.Sprintf("%s every %s", r.Match, r.Every)
	}
	return fmt.Sprintf("%s every %s to %s, as often as it changes", r.Match, r.Min, r.Max)
}
