package messages

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var (
	genCrawl = rapid.StringMatching(`[a-z0-9][a-z0-9_-]{0,62}`)
	genText  = rapid.StringN(-1, -1, MaxText)
	genURL   = rapid.Custom(func(t *rapid.T) string {
		return "https://" + rapid.StringMatching(`[a-z0-9]{1,9}(\.[a-z]{2,5}){1,2}`).Draw(t, "host") +
			"/" + rapid.StringMatching(`[A-Za-z0-9%/?=&~é漢🎣-]{0,40}`).Draw(t, "path")
	})
	genTime = rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	})
	genMillis = rapid.Map(rapid.Int64Range(0, maxMillis), func(n int64) Millis {
		return Millis(time.Duration(n) * time.Millisecond)
	})
	genCount     = rapid.Int64Range(0, 1<<40)
	genRun       = rapid.Int64Range(0, 1<<62)
	genValidator = rapid.StringMatching(`("[!-~é漢]{0,80}")?`)
	genClass     = rapid.Custom(func(t *rapid.T) Class {
		var all []string
		for c := range classes {
			all = append(all, string(c))
		}
		return Class(rapid.SampledFrom(sorted(all)).Draw(t, "class"))
	})
)

func genVisit(t *rapid.T, url string) Visit {
	return Visit{URL: HashURL(url), Round: rapid.Uint64Range(1, 1<<63-1).Draw(t, "round")}
}

func genCandidates(t *rapid.T) *Candidates {
	c := &Candidates{
		Crawl: genCrawl.Draw(t, "crawl"), Rev: rapid.Uint64().Draw(t, "rev"),
		Source:   rapid.SampledFrom([]Source{SourceSeed, SourceLink, SourceRedirect}).Draw(t, "source"),
		Referrer: genURL.Draw(t, "referrer"), Depth: rapid.IntRange(0, MaxDepth).Draw(t, "depth"),
		Redirects: rapid.IntRange(0, 50).Draw(t, "redirects"), ParseError: genText.Draw(t, "parse error"), Warning: genText.Draw(t, "warning"),
		PageRound: rapid.Uint64Range(0, 1<<63-1).Draw(t, "page round"), PagePart: rapid.IntRange(0, maxPart).Draw(t, "page part"),
		PageDepth: rapid.IntRange(0, MaxDepth).Draw(t, "page depth"),
		Era:       rapid.Uint64Range(0, MaxEra).Draw(t, "era"), Run: genRun.Draw(t, "run"), Content: rapid.Uint64().Draw(t, "content"),
		URLs: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Candidate {
			return Candidate{
				URL:      genURL.Draw(t, "url"),
				Priority: rapid.Ptr(rapid.IntRange(0, MaxPriority), true).Draw(t, "priority"),
				Sitemap:  rapid.Bool().Draw(t, "sitemap"),
			}
		}), 0, 20).Draw(t, "urls"),
	}
	if len(c.URLs) == 0 {
		c.URLs = nil
	}
	c.Metadata, c.Inherit = genInherited(t)
	if c.Source == SourceSeed {
		c.Metadata, c.Inherit = nil, false
		for i := range c.URLs {
			c.URLs[i].Metadata, c.URLs[i].Inherit = genInherited(t)
		}
		c.SeedList, c.SeedListEnd = rapid.Uint64().Draw(t, "seed list"), rapid.Bool().Draw(t, "end of it")
	}
	switch rapid.SampledFrom([]string{"", "ends", "unchanged"}).Draw(t, "about") {
	case "ends":
		c.Ends = genVisit(t, c.Referrer)
		for range rapid.IntRange(0, 3).Draw(t, "kinds") {
			c.Records = append(c.Records, KindCount{rapid.StringMatching(`[a-z][a-z0-9_]{0,5}`).Draw(t, "kind"), rapid.Int64Min(1).Draw(t, "records")})
		}
	case "unchanged":
		c.Metadata, c.Inherit = nil, false
		c.Source, c.URLs, c.PageRound = SourceUnchanged, nil, max(c.PageRound, 1)
		c.SeedList, c.SeedListEnd = 0, false
	}
	return c
}

// genInherited generates metadata, and whether it is inherited.
func genInherited(t *rapid.T) (Metadata, bool) {
	m := genMetadata.Draw(t, "metadata")
	return m, m != nil && rapid.Bool().Draw(t, "inherit")
}

func genRequest(t *rapid.T) *Request {
	url := genURL.Draw(t, "url")
	metadata, inherit := genInherited(t)
	return &Request{
		Metadata: metadata, Inherit: inherit, Sitemap: rapid.Bool().Draw(t, "sitemap"),
		Crawl: genCrawl.Draw(t, "crawl"), Rev: rapid.Uint64().Draw(t, "rev"), URL: url, Visit: genVisit(t, url),
		Attempt: rapid.IntRange(1, 1000).Draw(t, "attempt"), Depth: rapid.IntRange(0, MaxDepth).Draw(t, "depth"),
		Referrer: genURL.Draw(t, "referrer"), Redirects: rapid.IntRange(0, 50).Draw(t, "redirects"),
		Delay: genMillis.Draw(t, "delay"), Epoch: rapid.Uint64().Draw(t, "epoch"), Interval: genMillis.Draw(t, "interval"),
		Run: genRun.Draw(t, "run"), ETag: genValidator.Draw(t, "etag"), LastModified: genValidator.Draw(t, "last modified"),
		PageRound: rapid.Uint64Range(0, 1<<63-1).Draw(t, "page round"), Digest: rapid.StringMatching(`([0-9a-f]{16})?`).Draw(t, "digest"),
		Recorded: rapid.Bool().Draw(t, "recorded"), NoResend: rapid.Bool().Draw(t, "no resend"),
	}
}

func genResult(t *rapid.T) *Result {
	url := genURL.Draw(t, "url")
	return &Result{
		Crawl: genCrawl.Draw(t, "crawl"), Rev: rapid.Uint64().Draw(t, "rev"), URL: url, Visit: genVisit(t, url),
		Attempt: rapid.IntRange(1, 1000).Draw(t, "attempt"), Run: genRun.Draw(t, "run"), Class: genClass.Draw(t, "class"),
		Status: rapid.IntRange(0, 999).Draw(t, "status"), Error: genText.Draw(t, "error"),
		Location: genURL.Draw(t, "location"), ContentType: genText.Draw(t, "type"), Started: genTime.Draw(t, "started").Truncate(time.Microsecond),
		Timings: Timings{
			DNS: genMillis.Draw(t, "dns"), Connect: genMillis.Draw(t, "connect"), TLS: genMillis.Draw(t, "tls"),
			FirstByte: genMillis.Draw(t, "first byte"), Total: genMillis.Draw(t, "total"),
		},
		BytesWire: genCount.Draw(t, "wire"), BytesBody: genCount.Draw(t, "body"), IP: "2001:db8::1", Protocol: "HTTP/2.0",
		RetryAfter: genMillis.Draw(t, "retry after"), CrawlDelay: rapid.Ptr(genMillis, true).Draw(t, "crawl delay"),
		Fetcher: genText.Draw(t, "fetcher"), ETag: genValidator.Draw(t, "etag"), LastModified: genValidator.Draw(t, "last modified"),
		Digest: rapid.StringMatching(`([0-9a-f]{32})?`).Draw(t, "digest"), GoneRecord: rapid.Bool().Draw(t, "gone record"),
	}
}

func genPage(t *rapid.T) *Page {
	url := genURL.Draw(t, "url")
	metadata, inherit := genInherited(t)
	return &Page{
		Metadata: metadata, Inherit: inherit, Sitemap: rapid.Bool().Draw(t, "sitemap"),
		Crawl: genCrawl.Draw(t, "crawl"), Rev: rapid.Uint64().Draw(t, "rev"), URL: url, Visit: genVisit(t, url),
		Attempt: rapid.IntRange(1, 1000).Draw(t, "attempt"), Depth: rapid.IntRange(0, MaxDepth).Draw(t, "depth"),
		Referrer: genURL.Draw(t, "referrer"), Status: rapid.IntRange(200, 299).Draw(t, "status"),
		ContentType: genText.Draw(t, "type"), FetchedAt: genTime.Draw(t, "fetched at"),
		Header:       map[string][]string{genText.Draw(t, "name"): {genText.Draw(t, "a"), genText.Draw(t, "b")}},
		BodyEncoding: rapid.SampledFrom([]string{"", BodyZstd}).Draw(t, "encoding"), BodySize: genCount.Draw(t, "size"),
		BodyObject: genText.Draw(t, "object"), Run: genRun.Draw(t, "run"),
		Timings: Timings{Total: Millis(time.Duration(rapid.IntRange(0, 9).Draw(t, "total")) * time.Millisecond)}, Digest: genText.Draw(t, "digest"),
		Unchanged: rapid.Bool().Draw(t, "unchanged"),
		Robots:    rapid.SampledFrom([]string{"", "obey"}).Draw(t, "robots"), Contact: genText.Draw(t, "contact"), Asked: genText.Draw(t, "asked"),
		Class:     rapid.SampledFrom([]Class{"", Redirect, RobotsFetched}).Draw(t, "class"),
		Truncated: rapid.SampledFrom([]Truncation{"", TruncatedLength, TruncatedTime}).Draw(t, "truncated"),
	}
}

func TestRoundTrips(t *testing.T) {
	t.Run("candidates", rapid.MakeCheck(func(t *rapid.T) {
		c := genCandidates(t)
		got, err := DecodeCandidates(c.Encode())
		same(t, got, c, err)
	}))
	t.Run("request", rapid.MakeCheck(func(t *rapid.T) {
		r := genRequest(t)
		got, err := DecodeRequest(r.Encode())
		same(t, got, r, err)
	}))
	t.Run("result", rapid.MakeCheck(func(t *rapid.T) {
		r := genResult(t)
		got, err := DecodeResult(r.Encode())
		same(t, got, r, err)
	}))
	t.Run("page", rapid.MakeCheck(func(t *rapid.T) {
		pg := genPage(t)
		m := pg.Msg(3, []byte("body"))
		for _, c := range []byte(m.Header.Get(HeaderPage)) {
			if c < ' ' || c > '~' {
				t.Fatalf("header holds byte %#x", c)
			}
		}
		got, err := DecodePage(m.Header)
		same(t, got, pg, err)
	}))
	t.Run("visit", rapid.MakeCheck(func(t *rapid.T) {
		v := genVisit(t, genURL.Draw(t, "url"))
		text, err := v.MarshalText()
		var got Visit
		if err == nil {
			err = got.UnmarshalText(text)
		}
		same(t, &got, &v, err)
	}))
}

func same[T any](t *rapid.T, got, want *T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("came back as\n%+v, was\n%+v", got, want)
	}
}

// Encoded messages can be decoded, whatever text a server or a library put into them.
func TestEncodeBoundsText(t *testing.T) {
	for name, text := range map[string]string{
		"long":            strings.Repeat("a", 5000),
		"long, not ASCII": strings.Repeat("漢", 5000),
		"not UTF-8":       strings.Repeat("\xff", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			url := "https://example.org/"
			v := Visit{HashURL(url), 1}
			r := Result{Crawl: "c", URL: url, Visit: v, Attempt: 1, Class: Timeout, Error: text, Rendered: text, NotRendered: text, Actions: text}
			if got, err := DecodeResult(r.Encode()); err != nil || len(got.Error) > MaxText {
				t.Errorf("result: %v", err)
			}
			c := Candidates{Crawl: "c", Source: SourceLink, Ends: v, ParseError: text, Warning: text}
			got, err := DecodeCandidates(c.Encode())
			if err != nil {
				t.Fatal(err)
			}
			if len(got.ParseError) > MaxText || len(got.Warning) > MaxText {
				t.Errorf("candidates carry a text of %d bytes", len(got.ParseError))
			}
		})
	}
}

func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.StringN(-1, -1, 3*MaxText), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 2*MaxText),
			func(b []byte) string { return string(b) })).Draw(t, "s")
		got := Clip(s)
		if len(got) > MaxText || !utf8.ValidString(got) {
			t.Fatalf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if utf8.ValidString(s) && len(s) <= MaxText && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
