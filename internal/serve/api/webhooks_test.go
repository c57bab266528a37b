package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/internal/serve/tokens"
	"seine/internal/serve/webhooks"
	"seine/internal/testing/await"
)

// told is a post that a receiver got.
type told struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Records []struct {
			ID, Crawl, Kind string
			Record          struct{ URL string }
		}
		Missed int
		Crawl  string
		End    string
		Run    struct {
			Pages int
			Ended string
		}
	} `json:"data"`
	body, stamp, signature string
}

// receiver answers each post with the status that the answer function returns for its number.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	tries []told
	taken []told
}

func newReceiver(t *testing.T, answer func(try int) int) *receiver {
	t.Helper()
	r := new(receiver)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		one := told{body: string(body), stamp: req.Header.Get(webhooks.HeaderTimestamp), signature: req.Header.Get(webhooks.HeaderSignature)}
		if err := json.Unmarshal(body, &one); err != nil || one.ID != req.Header.Get(webhooks.HeaderID) {
			t.Errorf("%s, %v, %v", body, err, req.Header)
		}
		r.mu.Lock()
		r.tries = append(r.tries, one)
		try := len(r.tries)
		r.mu.Unlock()
		status := answer(try)
		r.mu.Lock()
		defer r.mu.Unlock()
		if w.WriteHeader(status); status == http.StatusNoContent {
			r.taken = append(r.taken, one)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// got waits for the end of the crawl. It returns the accepted posts and all tries.
func (r *receiver) got(t *testing.T) (all, tries []told) {
	t.Helper()
	await.Eventually(t, "the end of the crawl is told", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.ContainsFunc(r.taken, func(o told) bool { return o.Type == "crawl.ended" })
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken), slices.Clone(r.tries)
}

// hook creates a webhook, and returns its secret.
func (s *server) hook(name, url, more string) string {
	s.t.Helper()
	var made struct{ Secret string }
	s.want(201, &made, "POST", "/webhooks", fmt.Sprintf(`{"name": %q, "url": %q%s}`, name, url, more))
	return made.Secret
}

// awaitHooks waits until the list of webhooks contains a text, and returns the list.
func (s *server) awaitHooks(text string) (list string) {
	s.t.Helper()
	await.Eventually(s.t, "the list of webhooks has "+text, func() bool {
		list = s.want(200, nil, "GET", "/webhooks", "").String()
		return strings.Contains(list, text)
	})
	return list
}

// Every record of a crawl and its end are posted in order and signed. Posts are retried with the
// same id and text until they are accepted.
func TestWebhookTellsOfACrawl(t *testing.T) {
	t.Parallel()
	data, seed := filepath.Join(t.TempDir(), "data"), site(t)
	s := newServer(t, data)
	r := newReceiver(t, func(try int) int {
		if try%3 != 0 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	secret := s.hook("pipeline", r.URL+"/secret-path", `, "batch": {"records": 4, "seconds": 1}`)
	spec := shop(seed + "/")
	spec.Schedule = ""
	runCrawl(t, data, "shop", spec)
	all, tries := r.got(t)
	seen := make(map[string]bool)
	for i, one := range all {
		if len(one.Data.Records) > 4 || (one.Type == "crawl.ended") != (i == len(all)-1) {
			t.Errorf("%d of %d is %s", i, len(all), one.body)
		}
		for _, record := range one.Data.Records {
			if record.Crawl != "shop" || record.Kind != "page" || record.ID == "" || seen[record.ID] {
				t.Errorf("%+v", record)
			}
			seen[record.ID] = true
		}
	}
	if end := all[len(all)-1].Data; len(seen) != 10 || end.Crawl != "shop" || end.End != "complete" || end.Run.Pages != 10 || end.Run.Ended == "" {
		t.Errorf("%d records, and the end %+v", len(seen), end)
	}
	bodies := make(map[string]string)
	for _, one := range tries {
		if one.signature != webhooks.Sign(secret, one.ID, one.stamp, []byte(one.body)) {
			t.Errorf("%s is signed %s", one.ID, one.signature)
		}
		if was, ok := bodies[one.ID]; ok && was != one.body {
			t.Errorf("%s was %s, and is %s", one.ID, was, one.body)
		}
		bodies[one.ID] = one.body
	}
	if len(bodies) != len(all) {
		t.Errorf("%d posts with %d names", len(all), len(bodies))
	}
	list := s.awaitHooks(fmt.Sprintf(`"delivered":%d`, len(all)))
	if !strings.Contains(list, `"pipeline"`) || strings.Contains(list, "secret-path") || strings.Contains(list, secret) {
		t.Errorf("%s", list)
	}
	s.want(204, nil, "DELETE", "/webhooks/pipeline", "")
	s.want(404, nil, "DELETE", "/webhooks/pipeline", "")
}

// A receiver that refuses everything, and one that does not answer, do not block others. The end is
// not posted before the records.
func TestDeadReceiverHoldsUpNobody(t *testing.T) {
	t.Parallel()
	data, seed := filepath.Join(t.TempDir(), "data"), site(t)
	s := newServer(t, data)
	dead := newReceiver(t, func(int) int { return http.StatusInternalServerError })
	release := make(chan struct{})
	slow := newReceiver(t, func(int) int { <-release; return http.StatusNoContent })
	t.Cleanup(func() { close(release) }) // before the receiver closes
	well := newReceiver(t, func(int) int { return http.StatusNoContent })
	s.hook("dead", dead.URL, `, "batch": {"seconds": 1}`)
	s.hook("slow", slow.URL, `, "batch": {"seconds": 1}`)
	s.hook("well", well.URL, `, "crawl": "shop", "kind": "page", "batch": {"seconds": 1}`)
	s.hook("ends", well.URL, `, "events": ["crawl.ended"]`)
	runCrawl(t, data, "shop", shop(seed+"/"))
	n := 0
	await.Eventually(t, "both are told the end", func() bool {
		well.mu.Lock()
		defer well.mu.Unlock()
		n = 0
		ends := 0
		for _, one := range well.taken {
			n += len(one.Data.Records)
			if one.Type == "crawl.ended" {
				ends++
			}
		}
		return ends == 2
	})
	if n != 10 {
		t.Errorf("%d records", n)
	}
	s.awaitHooks("the receiver answers 500")
	figures := s.webhookFigures()
	if figures["waiting dead"] != 1 || figures["oldest dead"] == 0 || figures["failed dead"] == 0 || figures["taken dead"] != 0 || figures["waiting slow"] != 1 || figures["failed well"] != 0 || figures["taken well"] == 0 {
		t.Errorf("%v", figures)
	}
	dead.mu.Lock()
	defer dead.mu.Unlock()
	for _, one := range dead.tries {
		if one.ID != dead.tries[0].ID {
			t.Errorf("%s is told before %s was taken", one.ID, dead.tries[0].ID)
		}
	}
}

// Events before the creation of a webhook are not posted; the events of a crawl that gets new URLs
// are.
func TestWebhookBeginsNow(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	r := newReceiver(t, func(int) int { return http.StatusNoContent })
	s.hook("late", r.URL, `, "batch": {"seconds": 1}`)
	s.want(200, nil, "POST", "/crawls/shop/seeds", seed+"/new", "Content-Type", "text/plain")
	all, _ := r.got(t)
	if len(all) != 2 || len(all[0].Data.Records) != 1 || !strings.HasSuffix(all[0].Data.Records[0].Record.URL, "/new") {
		t.Errorf("%+v", all)
	}
}

// Webhooks do not reach private addresses and do not disclose data that their creator may not read.
func TestWebhooksAreGuarded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens.json")
	secret, err := tokens.Create(file, "writer", []caller.Scope{caller.Write}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(o *serve.Options, a *api.Options) {
		a.AllowPrivate, a.Webhooks.AllowPrivate = false, false
		if o.Tokens, err = tokens.Open(file); err != nil {
			t.Fatal(err)
		}
	})
	hit := newReceiver(t, func(int) int { t.Error("it was reached"); return 204 })
	ends := `, "events": ["crawl.ended"]`
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"name": "a", "url": "` + hit.URL + `"` + ends + `}`:                    {403, "--allow-private"},
		`{"name": "a", "url": "http://169.254.169.254/"` + ends + `}`:            {403, "169.254.169.254"},
		`{"name": "a", "url": "http://example.org/"}`:                            {403, "scope records"},
		`{"name": "../a", "url": "http://example.org/"` + ends + `}`:             {422, "name: must be"},
		`{"name": "a", "url": "ftp://example.org/"` + ends + `}`:                 {422, "http://"},
		`{"name": "a", "url": "http://user:pass@example.org/"` + ends + `}`:      {422, "without a user"},
		`{"name": "a", "url": "http://example.org/", "events": ["moon"]}`:        {422, "crawl.ended"},
		`{"name": "a", "url": "http://example.org/", "crawl": "Up"` + ends + `}`: {422, "a-z"},
	} {
		if a := s.do("POST", "/webhooks", body, "Authorization", "Bearer "+secret); a.status != want.status || !strings.Contains(s.problemOf(a), want.text) {
			t.Errorf("%s: %v", body, a)
		}
	}
	// A name is resolved when a post is sent.
	named := strings.Replace(hit.URL, "127.0.0.1", "localhost", 1)
	s.want(201, nil, "POST", "/webhooks", `{"name": "a", "url": "`+named+`"`+ends+`}`, "Authorization", "Bearer "+secret)
	if a := s.do("POST", "/webhooks", `{"name": "a", "url": "`+named+`"`+ends+`}`, "Authorization", "Bearer "+secret); a.status != 409 || !strings.Contains(s.problemOf(a), "DELETE") {
		t.Errorf("%v", a)
	}
}

// webhookFigures returns the metrics of webhooks, by a word of their name or outcome and the
// webhook.
func (s *server) webhookFigures() map[string]float64 {
	s.t.Helper()
	all := prometheus.NewPedanticRegistry()
	all.MustRegister(s.API.Webhooks)
	families, err := all.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	figures := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			word, hook := strings.Split(f.GetName(), "_")[2], ""
			for _, l := range m.GetLabel() {
				if l.GetName() == "outcome" {
					word = l.GetValue()
				} else {
					hook = l.GetValue()
				}
			}
			figures[word+" "+hook] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return figures
}

// A new secret signs beside the old one for the given time, or alone if the old one has leaked.
func TestSecretOfAWebhookIsReplaced(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	r := newReceiver(t, func(int) int { return http.StatusNoContent })
	secrets := []string{s.hook("pipeline", r.URL, `, "events": ["records"], "batch": {"seconds": 1}`)}
	for i, overlap := range []string{"", "?overlap=1h", "?overlap=0s"} {
		var made struct {
			Secret   string
			OldUntil string `json:"old_secret_until"`
		}
		s.want(200, &made, "POST", "/webhooks/pipeline/secret"+overlap, "")
		if secrets = append(secrets, made.Secret); (made.OldUntil == "") != (overlap == "?overlap=0s") {
			t.Errorf("%s: until %q", overlap, made.OldUntil)
		}
		s.want(200, nil, "POST", "/crawls/shop/seeds", fmt.Sprintf("%s/new/%d", seed, i), "Content-Type", "text/plain")
		await.Eventually(t, "the record is told", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.taken) == i+1
		})
		r.mu.Lock()
		one := r.taken[i]
		r.mu.Unlock()
		want := webhooks.Sign(made.Secret, one.ID, one.stamp, []byte(one.body))
		if overlap != "?overlap=0s" {
			want += " " + webhooks.Sign(secrets[i], one.ID, one.stamp, []byte(one.body))
		}
		if one.signature != want {
			t.Errorf("%s: signed %s, want %s", overlap, one.signature, want)
		}
		// A post that is in flight while the secret is replaced is sent again.
		s.awaitHooks(fmt.Sprintf(`"delivered":%d`, i+1))
	}
	if list := s.awaitHooks(`"delivered":3`); strings.Contains(list, "whsec_") {
		t.Error(list)
	}
	for _, c := range []badRequest{
		{"", "/webhooks/nobody/secret", "", 404, "GET /api/v1/webhooks", nil},
		{"", "/webhooks/pipeline/secret?overlap=long", "", 422, "such as 24h", nil},
		{"", "/webhooks/pipeline/secret?overlap=-1h", "", 422, "such as 24h", nil},
		{"", "/webhooks/pipeline/secret?overlap=9999h", "", 422, "such as 24h", nil},
	} {
		if a := s.do("POST", c.path, ""); a.status != c.status || !strings.Contains(s.problemOf(a), c.advice) {
			t.Errorf("%s: %v", c.path, a)
		}
	}
}
