package render

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"

	"seine/internal/base/weburl"
)

// cookieKey identifies a cookie in a browser context.
type cookieKey struct{ name, domain, path string }

// giveCookies passes new cookies for the hosts of the page and of its login to the job. It skips
// cookies that scripts cannot set: they came with a response, which the job has seen. It ignores a
// browser that does not answer; the next job will notice.
func (t *tab) giveCookies(ctx context.Context, job *Job) {
	if job.GiveCookie == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	all, err := storage.GetCookies().WithBrowserContextID(t.context).Do(cdp.WithExecutor(ctx, t.browser))
	if err != nil {
		return
	}
	known := make(map[cookieKey]string, len(all))
	for _, c := range all {
		key := cookieKey{c.Name, c.Domain, c.Path}
		known[key] = c.Value
		if c.HTTPOnly || c.PartitionKey != nil || c.PartitionKeyOpaque {
			continue
		}
		if old, has := t.cookies[key]; has && old == c.Value {
			continue
		}
		if url := ownerOf(c, job); url != "" {
			job.GiveCookie(url, setCookie(c))
		}
	}
	t.cookies = known
}

// ownerOf returns the URL of the job whose host a cookie is for, whatever its path, or "" if it is
// for another host.
func ownerOf(c *network.Cookie, job *Job) string {
	all := []string{job.Main.URL}
	if job.How.Login != nil {
		all = append(all, job.How.Login.URL)
	}
	for _, url := range all {
		url, err := weburl.Canonicalize(url)
		host := weburl.Hostname(url)
		domain, below := strings.CutPrefix(c.Domain, ".")
		if err == nil && (host == domain || below && strings.HasSuffix(host, c.Domain)) {
			return url
		}
	}
	return ""
}

// setCookie returns a cookie as a Set-Cookie field.
func setCookie(c *network.Cookie) string {
	text := c.Name + "=" + c.Value + "; Path=" + c.Path
	if domain, below := strings.CutPrefix(c.Domain, "."); below {
		text += "; Domain=" + domain
	}
	if !c.Session && c.Expires > 0 {
		text += "; Expires=" + time.Unix(int64(c.Expires), 0).UTC().Format(http.TimeFormat)
	}
	if c.Secure {
		text += "; Secure"
	}
	return text
}
