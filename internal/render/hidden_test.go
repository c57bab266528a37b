package render

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/html"

	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// hiddenTexts returns the texts of a document in and outside elements with the attribute hidden.
func hiddenTexts(t *testing.T, document []byte) (hidden, shown string) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	var read func(n *html.Node, in bool)
	read = func(n *html.Node, in bool) {
		for _, a := range n.Attr {
			in = in || a.Key == "hidden"
		}
		switch {
		case n.Type == html.TextNode && in:
			hidden += n.Data
		case n.Type == html.TextNode:
			shown += n.Data
		case n.Data == "head" || n.Data == "style" || n.Data == "script":
			return
		}
		for c := range n.ChildNodes() {
			read(c, in)
		}
	}
	read(root, false)
	return hidden, shown
}

// Elements hidden by the styles of a page are marked as hidden, once, and no others.
func TestTextThatStylesHideIsMarked(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 4, Pages: 1000})
	const style = `<style>.n { display: none } .v { visibility: hidden } .v .s { visibility: visible }</style>`
	for name, tt := range map[string]struct{ document, hidden, shown string }{
		"by class":               {`<p>a</p><div class=n>b<p>c</p></div>`, "bc", "a"},
		"by attribute":           {`<p hidden>b</p><p style="display:none">c</p>`, "bc", ""},
		"by visibility":          {`<div class=v>b<p>c</p></div>`, "bc", ""},
		"a part that is seen":    {`<div class=v><p>b</p><p class=s>a</p></div>`, "b", "a"},
		"a parent without a box": {`<div style="display:contents"><p>a</p>b</div><div style="display:contents">c</div>`, "", "abc"},
		"details":                {`<details><summary>a</summary>b<p>c</p></details>`, "", "abc"},
		"out of view":            {`<div style="height:9000px">a</div><section style="content-visibility:auto"><p>b</p></section>`, "", "ab"},
		"transparent":            {`<p style="opacity:0">a</p><p style="position:absolute;left:-9999px">b</p>`, "", "ab"},
		"a list of choices":      {`<select><option>a<option>b</select><datalist><option>c</datalist>`, "", "abc"},
		"readings":               {`<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>`, "", "a(b)"},
		"a table":                {`<table><tr><td>a<td class=n>b<tr class=n><td>c</table>`, "bc", "a"},
		"a shadow root":          {`<div id=host></div><script>host.attachShadow({mode: 'closed'}).innerHTML = '<p>a</p><p style="display:none">b'</script>`, "b", "a"},
		"a frame":                {`<iframe srcdoc="<p>a"></iframe><iframe class=n srcdoc="<p>b"></iframe><div class=n><iframe srcdoc="<p>c"></iframe></div>`, "bc", "a"},
		"a script that opens it": {`<p class=n id=p>a</p><script>p.className = ''</script>`, "", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := actOn(t, r, style+tt.document, `{"mode":"always","until":"load"}`)
			if hidden, shown := hiddenTexts(t, page.HTML); hidden != tt.hidden || shown != tt.shown {
				t.Errorf("hidden %q, shown %q, want %q and %q: %s", hidden, shown, tt.hidden, tt.shown, page.HTML)
			}
		})
	}
}

// A PDF has the page size that the styles for print request.
func TestPDFHasTheSizeOfTheStyles(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for style, size := range map[string]string{"": "[0 0 612 792]", "@page { size: 10in 5in }": "[0 0 720 360]"} {
		page := actOn(t, r, "<style>"+style+"</style><p>text", `{"mode":"always","until":"load","pdf":true}`)
		if !bytes.Contains(page.PDF, []byte("/MediaBox "+size)) {
			t.Errorf("%q: no page of %s in %.1500q", style, size, page.PDF)
		}
	}
}

// Frames of advertisements are omitted, others are not.
func TestFramesOfAdvertisementsAreLeftOut(t *testing.T) {
	t.Parallel()
	for frame, ad := range map[string]bool{
		"https://ads.example.net/slot/1":                       true,
		"https://cdn.example.net/ad.html":                      true,
		"https://securepubads.g.doubleclick.net/pagead/x":      true,
		"https://tpc.googlesyndication.com/safeframe/1/x.html": true,
		"https://www.google.com/recaptcha/api2/anchor?k=1":     true,
		"https://frames.hcaptcha.com/captcha/v1/static/x":      true,
		"https://ads.news.example/slot":                        false, // of the same site
		"https://www.video.example/embed/roads-and-leads":      false,
		"https://maps.example.net/address/add?ad=1":            false,
		"https://player.example.net/shadow":                    false,
		"about:srcdoc":                                         false,
		"data:text/html,ad":                                    false,
	} {
		if got := isAd(frame, "https://www.news.example/article"); got != ad {
			t.Errorf("%s: %v, want %v", frame, got, ad)
		}
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>frame of %s.</p>", r.URL.Path)
	}))
	t.Cleanup(web.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	how := crawlspec.DefaultRender()
	page, err := r.Render(t.Context(), &Job{
		Crawl: "c", How: &how, UserAgent: "seine/test", MaxBody: 1 << 20, Transport: guarded{web.URL},
		Main: pageproxy.Document{
			URL: "http://www.news.example/page", Status: 200, Header: http.Header{"Content-Type": {"text/html"}},
			Body: []byte("<!doctype html><iframe src=" + web.URL + "/ad.html></iframe><iframe src=" + web.URL + "/video></iframe>"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page.HTML, []byte("frame of /video.")) || bytes.Contains(page.HTML, []byte("frame of /ad.html.")) {
		t.Errorf("%s", page.HTML)
	}
}
