package crawlspec

import (
	"strings"
	"testing"
	"time"

	"seine/pkg/messages"
)

// A key without effect is reported. The same key is not reported where it has an effect.
func TestKeysWithoutEffectAreTold(t *testing.T) {
	t.Parallel()
	second := Duration(time.Second)
	zero, four, zone, factor := Duration(0), 4, "Europe/Berlin", 2.0
	sources := func(hosts ...[]string) func(*Spec) {
		return func(s *Spec) {
			for _, h := range hosts {
				s.Sources = append(s.Sources, HostRule{Hosts: h, Delay: new(Duration)})
			}
		}
	}
	source := func(change func(*HostRule)) func(*Spec) {
		return func(s *Spec) {
			src := HostRule{Hosts: []string{"a.example"}}
			change(&src)
			s.Sources = append(s.Sources, src)
		}
	}
	all := func(changes ...func(*Spec)) func(*Spec) {
		return func(s *Spec) {
			for _, c := range changes {
				c(s)
			}
		}
	}
	sitemap := func(inherit bool) func(*Spec) {
		return func(s *Spec) {
			s.Seeds = []Seed{{URL: "https://a.example/"}, {Sitemap: "https://a.example/s.xml", Metadata: messages.Metadata{"a": "b"}, Inherit: inherit}}
		}
	}
	sections := func(key Template, get string) func(*Spec) {
		return func(s *Spec) {
			fields := Fields{{Name: "page", Field: Field{From: "url"}}, {Name: "pos", Field: Field{Get: get}}}
			s.Records = []RecordRule{{Each: &Each{From: "sections"}, Key: key, Fields: fields}}
		}
	}
	perHost := func(s *Spec) { s.PerHost = 4 }
	noDelay := func(s *Spec) { s.Delay = 0 }
	inZone := func(s *Spec) { s.TimeZone = zone }
	render := func(change func(*Render)) func(*Spec) {
		return func(s *Spec) {
			r := DefaultRender()
			r.Mode = RenderAuto
			change(&r)
			s.Render = &r
		}
	}
	contact := func(s *Spec) { s.Contact = "me@example.org" }
	for name, tt := range map[string]struct {
		does, idle func(*Spec)
		want       string // the report for idle
	}{
		"hash routes without a browser": {
			all(func(s *Spec) { s.Normalize.HashRoutes = true }, render(func(*Render) {})), func(s *Spec) { s.Normalize.HashRoutes = true },
			"normalize.hash_routes: does nothing while no page is rendered: write render: auto or always",
		},
		"language as a selector": {
			func(s *Spec) { s.Page.When = &Condition{Language: Strings{"en"}} }, func(s *Spec) { s.Page.When = &Condition{Selector: Selector{CSS: "en"}} },
			"page.when: does nothing as a selector, since no page has such an element: for pages in a language, write {language: en}",
		},
		"hosts":              {func(s *Spec) { s.Hosts = []string{"a.example"} }, func(s *Spec) { s.Hosts, s.Scope = []string{"a.example"}, ScopeAny }, "hosts: does nothing beside scope: any"},
		"domains":            {func(s *Spec) { s.Domains = []string{"a.example"} }, func(s *Spec) { s.Domains, s.Scope = []string{"a.example"}, ScopeAny }, "domains: does nothing beside scope: any"},
		"max_pages_per_host": {func(s *Spec) { s.MaxPages, s.MaxPagesPerHost = 9, 9 }, func(s *Spec) { s.MaxPages, s.MaxPagesPerHost = 9, 10 }, "max_pages_per_host: does nothing beside a smaller max_pages: 9"},
		"metadata of a sitemap": {
			sitemap(true), sitemap(false), "seeds[1].metadata: does nothing for a sitemap, which makes no record, without inherit: true",
		},
		"metadata and fields": {
			all(sitemap(true), func(s *Spec) { s.Page.Fields = Strings{"url", "metadata"} }), all(sitemap(true), func(s *Spec) { s.Page.Fields = Strings{"url"} }),
			"seeds[1].metadata: does nothing without metadata in page.fields",
		},
		"name in robots.txt": {
			func(s *Spec) { s.UserAgent = "Mozilla/5.0 (compatible; mybot/1.0)" }, func(s *Spec) { s.UserAgent = "Mozilla/5.0 (X11; Linux)" },
			"user_agent: does nothing for robots.txt, which is searched for Mozilla",
		},
		"no record at all": {
			func(s *Spec) { s.Page.Emit, s.Archive = EmitNever, true }, func(s *Spec) { s.Page.Emit = EmitNever }, "page.emit: does nothing but keep pages",
		},
		"mask and an archive": {
			func(s *Spec) { s.Mask.Fields = Strings{"*"} }, func(s *Spec) { s.Mask.Fields, s.Archive = Strings{"*"}, true },
			"mask: does nothing in archives, which have pages as they came",
		},
		"per_host":         {all(perHost, noDelay), perHost, "per_host: does nothing beside a delay of 1s"},
		"per_host of some": {all(perHost, source(func(r *HostRule) { r.Delay = &zero })), all(perHost, source(func(r *HostRule) { r.Delay = &second })), "per_host: does nothing beside"},
		"per_host of a source": {
			source(func(r *HostRule) { r.PerHost, r.Delay = &four, &zero }), source(func(r *HostRule) { r.PerHost = &four }), "sources[0].per_host: does nothing beside a delay",
		},
		"delay_factor":             {func(s *Spec) { s.DelayFactor = 2 }, all(noDelay, func(s *Spec) { s.DelayFactor = 2 }), "delay_factor: does nothing without a delay"},
		"delay_factor of a source": {source(func(r *HostRule) { r.DelayFactor = &factor }), source(func(r *HostRule) { r.DelayFactor, r.Delay = &factor, &zero }), "sources[0].delay_factor: does nothing without"},
		"time_zone":                {all(inZone, func(s *Spec) { s.Schedule = "0 5 * * *" }), inZone, "time_zone: does nothing without hours or a schedule"},
		"time_zone for sources":    {all(inZone, source(func(r *HostRule) { r.Hours = []string{"22:00-06:00"} })), all(inZone, source(func(r *HostRule) { r.Hours, r.TimeZone = []string{"22:00-06:00"}, &zone })), "time_zone: does nothing"},
		"time_zone of a source":    {source(func(r *HostRule) { r.TimeZone, r.Hours = &zone, []string{"22:00-06:00"} }), source(func(r *HostRule) { r.TimeZone = &zone }), "sources[0].time_zone: does nothing without hours"},
		"a host of two sources": {
			sources([]string{"a.test", "*.b.test", "http://c.test:1"}, []string{"*.a.test", "b.test.example", "http://c.test:2", "c.test"}), sources([]string{"a.test"}, []string{"b.test", "a.test"}),
			"sources[1].hosts[1]: does nothing behind a source that names a.test too: the first one applies",
		},
		"a domain of two sources": {
			sources([]string{"a.test"}, []string{"*.a.test"}), sources([]string{"*.a.test"}, []string{"x.a.test"}), "sources[1].hosts[0]: does nothing behind a source that names x.a.test",
		},
		"an origin of two sources": {
			sources([]string{"http://a.test:1"}, []string{"a.test"}), sources([]string{"a.test"}, []string{"http://a.test:1"}), "sources[1].hosts[0]: does nothing behind a source that names http://a.test:1",
		},
		"a source":            {source(func(r *HostRule) { r.Delay = &second }), source(func(*HostRule) {}), "sources[0]: does nothing but name hosts"},
		"contact":             {contact, all(contact, func(s *Spec) { s.UserAgent = "mybot/1.0" }), "contact: does nothing beside a user_agent"},
		"contact and several": {contact, all(contact, func(s *Spec) { s.UserAgents = []string{"mybot/1.0"} }), "contact: does nothing beside user_agents"},
		"ca":                  {func(s *Spec) { s.TLS = &TLS{Insecure: true} }, func(s *Spec) { s.TLS = &TLS{Insecure: true, CA: "x"} }, "tls.ca: does nothing beside insecure"},
		"page.fields":         {func(s *Spec) { s.Page.Fields = Strings{"url"} }, func(s *Spec) { s.Page.Fields, s.Page.Emit = Strings{"url"}, EmitNever }, "page.fields: does nothing beside emit: never"},
		"distance":            {func(s *Spec) { s.Duplicates.Distance, s.Duplicates.Near = 5, DuplicateDrop }, func(s *Spec) { s.Duplicates.Distance = 5 }, "duplicates.distance: does nothing without near"},
		"over": {
			func(s *Spec) { s.Alerts.Over, s.Alerts.ErrorRate = second, 0 },
			func(s *Spec) { s.Alerts.Over, s.Alerts.ErrorRate, s.Alerts.Blocked = second, 0, 0 }, "alerts.over: does nothing without an error_rate or blocked",
		},
		"min_requests":  {func(s *Spec) { s.Alerts.MinRequests = 5 }, func(s *Spec) { s.Alerts.MinRequests, s.Alerts.ErrorRate = 5, 0 }, "alerts.min_requests: does nothing without"},
		"allow_private": {func(s *Spec) { s.Alerts.AllowPrivate, s.Alerts.Webhook = true, "http://127.0.0.1/" }, func(s *Spec) { s.Alerts.AllowPrivate = true }, "alerts.allow_private: does nothing without a webhook"},
		"patterns": {
			func(s *Spec) { s.Exclude = []string{"*p2*", "/p2", "re:p2", "https://a.test/p2"} },
			func(s *Spec) { s.Exclude = []string{"/p1", "p2"} }, `exclude[1]: does nothing as "p2" is not a whole URL: write "*p2*" for`,
		},
		"pattern of a rule": {
			func(s *Spec) { s.Records = []RecordRule{{Target: Target{Match: Strings{"/p/*"}}}} },
			func(s *Spec) { s.Records = []RecordRule{{Target: Target{Match: Strings{"shop.example"}}}} }, "records[0].match: does nothing as",
		},
		"rules": {
			func(s *Spec) { s.Priorities = []PriorityRule{{Match: "/a/*"}, {Match: "*"}} },
			func(s *Spec) { s.Priorities = []PriorityRule{{Match: "*"}, {Match: "/a/*"}} }, "priorities[1]: does nothing after the rule before it",
		},
		"option of rendering": {
			render(func(r *Render) { r.InitScript = "f()" }), render(func(r *Render) { r.Mode, r.InitScript = RenderNever, "f()" }),
			"render.init_script: does nothing while no page is rendered",
		},
		"option where a rule renders": {
			render(func(r *Render) {
				r.Mode, r.InitScript, r.Modes = RenderNever, "f()", []RenderRule{{Match: Strings{"/app/*"}, Mode: RenderAuto}}
			}),
			render(func(r *Render) {
				r.Mode, r.Modes = RenderNever, []RenderRule{{Match: Strings{"/app/*"}, Mode: RenderNever}}
			}),
			"render.modes: does nothing while no page is rendered",
		},
		"rule of rendering": {
			render(func(r *Render) {
				r.Modes = []RenderRule{{Match: Strings{"/a/*"}, Mode: RenderNever}, {Match: Strings{"*"}, Mode: RenderAuto}}
			}),
			render(func(r *Render) {
				r.Modes = []RenderRule{{Match: Strings{"/a/*", "*"}, Mode: RenderNever}, {Match: Strings{"/b/*"}, Mode: RenderAuto}}
			}), "render.modes[1]: does nothing after the rule before it",
		},
		"pattern of rendering": {
			render(func(r *Render) { r.Block.URLs = Strings{"*ads*"} }), render(func(r *Render) { r.Block.URLs = Strings{"ads"} }),
			`render.block.urls[0]: does nothing as "ads" is not a whole URL`,
		},
		"capture of what is blocked": {
			render(func(r *Render) { r.Capture, r.Block.Types = Strings{"/api/*"}, Strings{"xhr"} }),
			render(func(r *Render) { r.Capture, r.Block.Types = Strings{"/api/*"}, Strings{"fetch", "xhr"} }), "render.capture: does nothing beside xhr and fetch",
		},
		"screenshot without an archive": {
			func(s *Spec) {
				s.Archive = true
				render(func(r *Render) { r.Screenshot = true })(s)
			}, render(func(r *Render) { r.Screenshot = true }), "render.screenshot: does nothing without an archive",
		},
		"capture without requests": {
			render(func(r *Render) { r.Capture = Strings{"/api/*"} }),
			render(func(r *Render) { r.Capture, r.MaxRequests = Strings{"/api/*"}, 0 }), "render.capture: does nothing beside max_requests: 0",
		},
		"each as a selector": {
			sections("", "@position"), func(s *Spec) { s.Records = []RecordRule{{Each: &Each{Selector: Selector{CSS: "sections"}}}} },
			"records[0].each: does nothing as a selector, since no page has such an element: for the parts between headings, write {from: sections}",
		},
		"each of a follow rule": {
			func(s *Spec) { s.Follow = []FollowRule{{Each: &Each{Selector: Selector{CSS: "section"}}}} },
			func(s *Spec) { s.Follow = []FollowRule{{Each: &Each{Selector: Selector{CSS: "sections"}}}} }, "follow[0].each: does nothing as a selector",
		},
		"key of positions":         {sections("{page}#{pos}", "@position"), sections("{pos}", "@position"), "records[0].key: does nothing to tell records apart: all pages have the same positions"},
		"key of positions, dashed": {sections("{pos}", "@id"), sections("p-{pos}", "@position"), "records[0].key: does nothing to tell records apart"},
		"alerts off":               {func(s *Spec) { s.Alerts = Alerts{} }, func(s *Spec) { s.Alerts = Alerts{AllowPrivate: true} }, "alerts.allow_private"},
	} {
		s := Default()
		tt.does(&s)
		if told := s.Ineffective(); len(told) > 0 {
			t.Errorf("%s: where it does something: %q", name, told)
		}
		s = Default()
		tt.idle(&s)
		if told := s.Ineffective(); len(told) != 1 || !strings.HasPrefix(told[0], tt.want) {
			t.Errorf("%s: %q, want %q", name, told, tt.want)
		}
	}
}
