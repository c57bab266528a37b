package crawl

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/base/weburl"
	"seine/internal/run/specfile"
	"seine/pkg/crawlspec"
)

// WriteDryRun writes the URLs and rules of a crawl without sending a request. begun is set if the
// crawl exists: it has further seeds, and does not fetch known URLs again.
func WriteDryRun(w io.Writer, seeds []string, spec *crawlspec.Spec, begun bool) {
	first := "would fetch %s first:\n"
	if begun {
		first = "would fetch %s as well, unless known already:\n"
	}
	if len(seeds) > 0 {
		safeprint.Fprintf(w, first, humanize.Plural(len(seeds), "URL"))
	}
	roots := make(map[string]bool)
	for _, s := range seeds {
		safeprint.Fprintf(w, "  %s\n", s)
		switch spec.Scope {
		case crawlspec.ScopeHost:
			roots[weburl.Host(s)] = true
		case crawlspec.ScopeDomain:
			roots[weburl.Domain(weburl.Hostname(s))] = true
		case crawlspec.ScopeAny:
		}
	}
	safeprint.Fprintln(w, "then the URLs that these pages link to, if:")
	rule := func(format string, a ...any) { safeprint.Fprintf(w, "  "+format+"\n", a...) }
	switch spec.Scope {
	case crawlspec.ScopeHost:
		rule("the host is %s", either(roots, begun, "that of an earlier seed"))
	case crawlspec.ScopeDomain:
		rule("the host is in %s", either(roots, begun, "the domain of an earlier seed"))
	default:
		rule("it is http or https, on any host")
	}
	if len(spec.Include) > 0 {
		rule("the URL matches one of: %s", strings.Join(spec.Include, "  "))
	}
	if len(spec.Exclude) > 0 {
		rule("the URL matches none of: %s", strings.Join(spec.Exclude, "  "))
	}
	if spec.MaxDepth != nil {
		rule("it is at most %s from a seed", humanize.Plural(*spec.MaxDepth, "link"))
	}
	if spec.MaxPages > 0 {
		rule("fewer than %s pages have been fetched", humanize.Count(spec.MaxPages))
	}
	if spec.MaxBytes > 0 {
		rule("less than %s of bodies have been received", spec.MaxBytes)
	}
	if spec.MaxDuration > 0 {
		rule("the crawl has run for less than %s", spec.MaxDuration)
	}
	if spec.Robots == crawlspec.RobotsObey {
		rule("robots.txt allows it for %q", spec.ProductToken())
	}
	if !spec.AllowPrivate {
		rule("its address is public (--allow-private also allows private addresses)")
	}
	safeprint.Fprintf(w, "%s, as %q\n", pace(&spec.Politeness), spec.Agent())
	writeSources(w, spec.Sources)
	if spec.Contact == "" && spec.UserAgent == crawlspec.DefaultUserAgent && !spec.AllowPrivate {
		safeprint.Fprintln(w, "site owners cannot reach you: set --contact")
	}
}

// pace describes the request rate for a host.
func pace(p *crawlspec.Politeness) string {
	text := fmt.Sprintf("up to %d requests at a time to each host, without a delay", p.PerHost)
	if p.Delay > 0 {
		text = fmt.Sprintf("one request at a time to each host, at least %s after the previous response", p.Delay)
	}
	if p.Rate > 0 {
		text += fmt.Sprintf(", at most %s", p.Rate)
	}
	if len(p.Hours) > 0 {
		text += ", at " + strings.Join(p.Hours, ", ")
	}
	return text
}

// writeSources writes the values that apply to some hosts only.
func writeSources(w io.Writer, sources []crawlspec.HostRule) {
	if len(sources) == 0 {
		return
	}
	safeprint.Fprintln(w, "for these hosts, the first entry that names one applies instead:")
	text, err := specfile.SourcesText(sources)
	if err != nil {
		safeprint.Fprintf(w, "  %v\n", err)
	}
	for line := range strings.Lines(string(text)) {
		safeprint.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// either lists the allowed hosts. For a crawl that has begun it adds the hosts of earlier seeds.
func either(roots map[string]bool, begun bool, earlier string) string {
	all := slices.Sorted(maps.Keys(roots))
	if begun {
		all = append(all, earlier)
	}
	return strings.Join(all, " or ")
}
