package testweb

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// robots serves /robots.txt in the configured mode.
func (sp sitePages) robots(rw http.ResponseWriter, r *http.Request, host int) {
	switch sp.site.cfg.RobotsTxt {
	case RobotsMissing:
		notFound(rw)
	case RobotsError:
		http.Error(rw, "no robots today", http.StatusServiceUnavailable)
	default:
		send(rw, r, typeText, sp.robotsText(sp.base(r, host)))
	}
}

func (sp sitePages) robotsText(base string) []byte {
	var b bytes.Buffer
	cfg := &sp.site.cfg
	b.WriteString("# testweb\nUser-agent: *\n")
	if cfg.RobotsTxt == RobotsDenyAll {
		b.WriteString("Disallow: /\n")
	} else {
		b.WriteString("Disallow: /private/\nAllow: /private/open/\n")
	}
	if cfg.CrawlDelay > 0 {
		fmt.Fprintf(&b, "Crawl-delay: %s\n", strconv.FormatFloat(cfg.CrawlDelay.Seconds(), 'f', -1, 64))
	}
	b.WriteString("\nUser-agent: evilbot\nDisallow: /\n")
	if cfg.Sitemap {
		fmt.Fprintf(&b, "\nSitemap: http://%s/sitemap.xml\n", base)
	}
	return b.Bytes()
}
