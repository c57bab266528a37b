package pages

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Refusals of forms use the words of the pages, not the paths and bodies of the API.
func TestRefusalsSpeakOfThePages(t *testing.T) {
	t.Parallel()
	c, _ := shop(t)
	for _, ask := range []struct {
		path   string
		form   url.Values
		status int
		says   string
	}{
		{"/crawls/none/pause", nil, 404, "see the page Crawls"},
		{"/crawls/none/delete", url.Values{"name": {"none"}}, 404, "see the page Crawls"},
		{"/crawls/shop/hosts/none.example/pause", nil, 404, "see the page Hosts"},
		{"/crawls/shop/spec/rollback", url.Values{"rev": {"99999"}}, 404, "see the page of its spec"},
		{"/crawls/shop/spec", url.Values{"rev": {"99999"}, "text": {"allow_private: true"}}, 412, "load the page again"},
		{"/new", url.Values{"crawl": {"shop"}, "seeds": {"https://example.org/"}}, 409, "open that crawl, or use another name"},
		{"/new", url.Values{"crawl": {"Not right"}, "seeds": {"https://example.org/"}}, 422, "name"},
		{"/new", url.Values{"crawl": {"other"}, "seeds": {"nonsense"}}, 422, "seeds: no_url"},
		{"/new", url.Values{"crawl": {"other"}, "seeds": {"https://example.org/"}, "spec": {"seeds: [{file: urls.txt}]"}}, 422, "the page Seeds"},
		{"/crawls/none/replay", url.Values{"of": {"pages"}}, 404, "see the page Crawls"},
		{"/crawls/shop/replay", url.Values{"of": {"pages"}, "since": {"yesterday"}}, 422, "must be how long ago"},
		{"/crawls/shop/replay/none/forget", nil, 404, "see the page Replay"},
		{"/seeds", url.Values{"text": {"https://example.org/"}}, 400, "name the crawl"},
		{"/crawls/shop/spec", url.Values{"rev": {"1"}, "text": {""}}, 400, "the field is empty"},
		{"/seeds", url.Values{"crawl": {"none"}, "text": {"https://example.org/"}}, 404, "see the page Crawls"},
	} {
		resp, err := http.PostForm(c.url+ask.path, ask.form)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != ask.status || !strings.Contains(string(text), ask.says) {
			t.Errorf("%s %v: %s, without %q:\n%s", ask.path, ask.form, resp.Status, ask.says, text)
		}
		for _, no := range []string{"/api/", "openapi", "body.", "PUT ", "POST ", "If-Match"} {
			if said := strings.ReplaceAll(string(text), `data-events="/api/`, ""); strings.Contains(said, no) {
				t.Errorf("%s %v speaks of %q:\n%s", ask.path, ask.form, no, text)
			}
		}
	}
}
