package chromium

import "strings"

// flags returns the options of the browser. The flags that suppress background activity are those
// of Chromium's own tests and of Puppeteer.
func (o *Options) flags(profile string) []string {
	return append([]string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile,
		"--no-first-run", "--no-default-browser-check", "--disable-default-apps", "--disable-extensions",
		"--disable-component-update", "--disable-component-extensions-with-background-pages", "--disable-background-networking",
		"--disable-sync", "--disable-domain-reliability", "--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only",
		"--disable-client-side-phishing-detection", "--no-pings", "--no-service-autorun", "--password-store=basic", "--use-mock-keychain",
		"--disable-search-engine-choice-screen", "--propagate-iph-for-testing", "--mute-audio", "--hide-scrollbars", "--disable-gpu", "--block-new-web-contents",
		"--disable-dev-shm-usage", // /dev/shm has 64 MiB in a container
		"--disable-prompt-on-repost", "--deny-permission-prompts", "--disable-hang-monitor",
		// Tabs are never in the foreground; their timers and frames must run nevertheless.
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--disable-features=" + strings.Join(offFeatures, ","), "--disable-site-isolation-trials",
		"--js-flags=--max-old-space-size=" + scriptMegabytes,
	}, o.network()...)
}

// scriptMegabytes bounds the memory of a page's scripts: a page that needs more crashes, without
// affecting others.
const scriptMegabytes = "512"

// offFeatures are disabled features. Without site isolation, frames of other sites are in the
// process of their page, so that a snapshot includes them. Pages of different crawls never share a
// process, since they are in different browser contexts.
var offFeatures = []string{
	"IsolateOrigins", "site-per-process", "Translate", "OptimizationHints", "OptimizationGuideModelDownloading", "MediaRouter",
	"DialMediaRouteProvider", "AcceptCHFrame", "AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "InterestFeedContentSuggestions",
	"HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "PreconnectToSearch", "NetworkTimeServiceQuerying", "PaintHolding",
	"Prerender2", "SpareRendererForSitePerProcess", "BackForwardCache",
}

// network routes all traffic through the proxy of a browser context. Without such a proxy, nothing
// answers.
func (o *Options) network() []string {
	return []string{
		"--proxy-server=http://127.0.0.1:9", // the discard port (RFC 863): nothing listens there
		"--proxy-bypass-list=<-loopback>",   // loopback addresses use the proxy too
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--disable-quic", "--dns-prefetch-disable",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--ignore-certificate-errors-spki-list=" + o.SPKI,
	}
}
