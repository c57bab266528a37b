package scriptweb

import "net/http"

// policyPages restrict their own scripts by policies, which must not disturb the renderer.
func policyPages() []Page {
	return []Page{
		at("csp-nonce", Page{Text: []string{"shown under a strict policy"}, Without: []string{"shown against the policy"}}),
		at("csp-nonce-expression", Page{
			Text: []string{"waited under a strict policy"}, Render: `{"actions":[{"wait":{"expression":"window.pageIsReady === true"}}]}`,
		}),
		at("csp-sandbox", Page{Text: []string{"shown in a policy sandbox"}}),
		at("trusted-types", Page{
			Text: []string{"shown with a trusted type"}, Links: []string{"/leaf/trusted-types"}, Without: []string{"shown without a trusted type"},
		}),
		at("cross-origin-isolated", Page{Text: []string{"the page is isolated"}}),
	}
}

// policies returns the headers of these pages and of pages that attack by headers.
func policies(other string) map[string]http.Header {
	strict := http.Header{"Content-Security-Policy": {"default-src 'none'; script-src 'nonce-c2VpbmU'; connect-src 'self'; base-uri 'none'"}}
	return map[string]http.Header{
		"/csp-nonce":            strict,
		"/csp-nonce-expression": strict,
		"/csp-sandbox":          {"Content-Security-Policy": {"sandbox allow-scripts"}},
		"/trusted-types":        {"Content-Security-Policy": {"require-trusted-types-for 'script'; trusted-types seine"}},
		"/cross-origin-isolated": {
			"Cross-Origin-Opener-Policy":   {"same-origin"},
			"Cross-Origin-Embedder-Policy": {"require-corp"},
		},
		"/attack-hints-by-header": {"Link": {
			"<" + other + "/secret/header-preload.js>; rel=preload; as=script", "<" + other + ">; rel=preconnect",
			"<" + other + "/secret/header-prefetch>; rel=prefetch",
		}},
		"/attack-reports": {
			"Content-Security-Policy-Report-Only": {
				"default-src 'none'; report-uri " + other + "/secret/report-uri", "default-src 'none'; report-to main",
			},
			"Reporting-Endpoints": {`main="` + other + `/secret/report-to"`},
		},
		"/service-worker/worker.js":          {"Service-Worker-Allowed": {"/service-worker"}},
		"/fetching-service-worker/worker.js": {"Service-Worker-Allowed": {"/fetching-service-worker"}},
		"/attack-service-worker/worker.js":   {"Service-Worker-Allowed": {"/attack-service-worker"}},
	}
}
