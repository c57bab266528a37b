package challenge

import (
	"net/http"
	"strings"
	"testing"
)

// pages are real challenge pages without irrelevant parts.
var pages = map[string]string{
	"Cloudflare": `<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><style>*{box-sizing:border-box}</style></head><body>
<noscript>Enable JavaScript and cookies to continue</noscript><script>(function(){window._cf_chl_opt = {cvId: '3',cType: 'managed'};
var a = document.createElement('script');a.src = '/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1?ray=1';})();</script></body></html>`,
	"DataDome": `<html lang="en"><head><title>shop.example</title><style>#cmsg{animation: A 1.5s;}</style></head><body style="margin:0"><p id="cmsg">
Please enable JS and disable any ad blocker</p><script data-cfasync="false">var dd={'rt':'c','cid':'AHrl','t':'bv','host':'geo.captcha-delivery.com'}</script>
<script src="https://ct.captcha-delivery.com/c.js"></script></body></html>`,
	"HUMAN": `<!DOCTYPE html><html><head><title>Access to this page has been denied</title></head><body><h1>Press &amp; Hold to confirm you are
a human (and not a bot).</h1><div id="px-captcha"></div><script>window._pxAppId = 'PX1'; window._pxJsClientSrc = '/x/init.js';</script></body></html>`,
	"Imperva": `<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body style="margin:0px;height:100%"><iframe id="main-iframe"
src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1">Request unsuccessful. Incapsula incident ID: 1848000740416814348</iframe></body></html>`,
	"Sucuri":     `<html><title>You are being redirected...</title><noscript>Javascript is required.</noscript><script>var s={},sucuri_cloudproxy_js='',S='YQ==';</script></html>`,
	"DDoS-Guard": `<!DOCTYPE html><html><head><title>DDOS-GUARD</title><link href="/.well-known/ddos-guard/ddg-captcha-page/index.css" rel="stylesheet"></head><body></body></html>`,
	"Anubis": `<!doctype html><html lang="en"><head><title>Making sure you're not a bot!</title><script id="anubis_version" type="application/json">"v1.25.0"</script>
<script id="anubis_challenge" type="application/json">{"rules":{"algorithm":"fast","difficulty":4}}</script></head><body><h1>Making sure you're not a bot!</h1></body></html>`,
}

func TestChallengesAreTold(t *testing.T) {
	for _, row := range byBody {
		if got := InBody([]byte(pages[row.vendor])); got != row.vendor {
			t.Errorf("the page of %s is told as %q", row.vendor, got)
		}
	}
	for value, want := range map[string]string{"challenge": "AWS WAF", " Captcha": "AWS WAF", "allow": ""} {
		if got := InHeader(http.Header{"X-Amzn-Waf-Action": {value}}); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
	if got := InHeader(http.Header{"Cf-Mitigated": {"challenge"}, "Server": {"cloudflare"}}); got != "Cloudflare" {
		t.Errorf("told as %q", got)
	}
	if got := InHeader(http.Header{"Server": {"cloudflare"}, "Cf-Ray": {"1"}}); got != "" {
		t.Errorf("a page of Cloudflare's is told as %q", got)
	}
}

// An article about challenges has their marks and a lot of text. A form with a CAPTCHA, and a page
// that such a service protects, have other marks.
func TestPagesAreNoChallenges(t *testing.T) {
	article := strings.Repeat("<p>Much is to be said about challenges, and little of it is good.</p>", 40)
	for vendor, page := range pages {
		about := "<html><body><h1>How they do it</h1>" + article + "<pre>" + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(page) + "</pre>" + page + "</body></html>"
		if got := InBody([]byte(about)); got != "" {
			t.Errorf("an article about %s is told as a challenge of %s", vendor, got)
		}
		if got := InBody([]byte(page + strings.Repeat("<i></i>", MaxBody/7))); got != "" {
			t.Errorf("a large page is told as a challenge of %s", got)
		}
	}
	for name, page := range map[string]string{
		"a comment form":    `<html><body><h1>Hi</h1><form><textarea></textarea><div class="g-recaptcha" data-sitekey="k"></div><div class="h-captcha"></div><div class="cf-turnstile"></div></form></body></html>`,
		"a watched page":    `<html><body><p>Short.</p><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script><script>window._pxAppId='PX1'</script></body></html>`,
		"DataDome's script": `<html><body><p>Short.</p><script src="https://js.datadome.co/tags.js"></script></body></html>`,
		"an empty page":     "",
	} {
		if got := InBody([]byte(page)); got != "" {
			t.Errorf("%s is told as a challenge of %s", name, got)
		}
	}
}

// A page with its own text, the common case: it costs only its first 1,500 bytes of text.
func BenchmarkPage(b *testing.B) {
	page := []byte("<html><head><title>A page</title></head><body>" + strings.Repeat(`<p class="block">Some <b>text</b> that people read.</p>`, 500) + "</body></html>")
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if who := InBody(page); who != "" {
			b.Fatal(who)
		}
	}
}
