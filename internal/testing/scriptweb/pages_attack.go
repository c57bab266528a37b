package scriptweb

// attackPages try to reach the second origin.
func attackPages() []Page {
	return []Page{
		attack("img", "images", "img", "img-srcset", "img-source", "img-input", "img-svg", "img-poster", "img-new"),
		attack("css", "style sheets", "css", "css-import", "css-font", "css-background"),
		attack("script", "scripts", "script.js", "module.js"),
		attack("fetch", "requests", "fetch", "fetch-cors", "fetch-keepalive", "xhr"),
		attack("redirect", "redirects", "redirect-frame", "redirect-img", "redirect-script.js", "redirect-fetch"),
		leading("location", "//other/secret/location", "location"),
		leading("location-redirect", "/attack-redirect/to/location-redirect", "location-redirect"),
		attack("websocket", "web sockets", "websocket"),
		attack("webtransport", "web transport", "udp-transport"),
		attack("worker", "workers", "worker-fetch", "worker-websocket", "worker-import.js", "worker-shared", "worker-blob"),
		attack("service-worker", "a service worker", "service-worker-import.js", "service-worker-install", "service-worker-activate"),
		attack("worklet", "worklets", "worklet-paint.js", "worklet-audio.js"),
		attack("popup", "windows", "popup", "popup-noopener", "popup-child"),
		clicked(attack("popup-by-click", "windows after a click", "popup-clicked", "popup-ping")),
		attack("iframe", "frames", "iframe", "iframe-srcdoc", "iframe-srcdoc-fetch", "iframe-sandboxed", "iframe-object", "iframe-embed"),
		attack("form", "forms", "form"),
		attack("media", "media", "media-video", "media-audio", "media-track"),
		attack("hints", "hints", "prefetch", "preload.js", "modulepreload.js", "icon", "manifest"),
		attack("hints-by-header", "hints of headers", "header-preload.js", "header-prefetch"),
		attack("speculation", "speculation rules", "speculation-prefetch", "speculation-prerender", "speculation-inner"),
		attack("beacon", "beacons", "beacon", "fetch-later"),
		leading("leaving", "/attack-leaving/target", "leaving-beacon", "leaving-fetch"),
		attack("event-source", "server-sent events", "event-source"),
		attack("reports", "reports", "report-uri", "report-to"),
		attack("webrtc", "peer connections", "udp-stun", "udp-turn"),
		at("attack-webrtc-candidate", Page{Attack: true, NotAsked: []string{"/secret/udp-candidate"}}),
		attack("names", "other names of an address", "names"),
		attack("credentials", "a login", "credentials"),
		attack("metadata", "metadata"),
	}
}

// attack returns a page that shows the kind of its attack. The targets are below /secret/.
func attack(name, by string, targets ...string) Page {
	return at("attack-"+name, Page{
		Attack: true, Text: []string{"attacked by " + by}, Without: []string{secretText}, NotAsked: secrets(targets),
	})
}

// leading returns an attack page that redirects.
func leading(name, to string, targets ...string) Page {
	return at("attack-"+name, Page{Attack: true, RedirectTo: to, NotAsked: secrets(targets)})
}

func secrets(targets []string) (paths []string) {
	for _, target := range targets {
		paths = append(paths, "/secret/"+target)
	}
	return paths
}

func clicked(p Page) Page {
	p.Render = `{"actions":[{"click":"button"}]}`
	return p
}
