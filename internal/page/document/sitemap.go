package document

import (
	"encoding/json"
	"strconv"
	"time"

	"seine/internal/page/sitemap"
)

// sitemapValue is a sitemap for jq: an object with index, which says that its
// entries are sitemaps, and entries, each with url and what else the file says of
// it: priority, modified, changefreq, alternates, news, images, videos. Of one
// that breaks off, it is what came before.
func sitemapValue(body []byte, contentType string) (any, error) {
	site, err := sitemap.Parse(body, contentType)
	if site == nil {
		return nil, err
	}
	entries := make([]any, len(site.Entries))
	for i := range site.Entries {
		entries[i] = entryValue(&site.Entries[i])
	}
	return map[string]any{"index": site.Index, "entries": entries}, nil
}

func entryValue(e *sitemap.Entry) map[string]any {
	o := fields{"url": e.URL}
	if e.Priority >= 0 {
		o["priority"] = json.Number(strconv.FormatFloat(e.Priority, 'f', -1, 64))
	}
	o.time("modified", e.Modified)
	o.text("changefreq", e.ChangeFreq)
	o.list("alternates", len(e.Alternates), func(i int) fields {
		a := fields{"url": e.Alternates[i]}
		a.text("language", e.Languages[i])
		return a
	})
	o.list("images", len(e.Images), func(i int) fields {
		image := fields{}
		image.text("url", e.Images[i].URL)
		image.text("title", e.Images[i].Title)
		image.text("caption", e.Images[i].Caption)
		image.text("license", e.Images[i].License)
		return image
	})
	o.list("videos", len(e.Videos), func(i int) fields { return videoValue(&e.Videos[i]) })
	if n := e.News; n != nil {
		news := fields{}
		news.text("publication", n.Publication)
		news.text("language", n.Language)
		news.text("title", n.Title)
		news.time("published", n.Published)
		news.text("keywords", n.Keywords)
		o["news"] = map[string]any(news)
	}
	return o
}

func videoValue(v *sitemap.Video) fields {
	o := fields{}
	o.text("title", v.Title)
	o.text("description", v.Description)
	o.text("thumbnail", v.Thumbnail)
	o.text("content", v.Content)
	o.text("player", v.Player)
	o.time("published", v.Published)
	if v.Duration > 0 {
		o["seconds"] = json.Number(strconv.FormatFloat(v.Duration.Seconds(), 'f', -1, 64))
	}
	return o
}

// fields is an object of jq. What is empty is left out.
type fields map[string]any

func (f fields) text(name, value string) {
	if value != "" {
		f[name] = value
	}
}

func (f fields) time(name string, t time.Time) {
	if !t.IsZero() {
		f[name] = t.Format(time.RFC3339)
	}
}

func (f fields) list(name string, n int, value func(i int) fields) {
	if n == 0 {
		return
	}
	all := make([]any, n)
	for i := range all {
		all[i] = map[string]any(value(i))
	}
	f[name] = all
}
