package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"

	"seine/internal/testing/testweb"
)

// hookReceiver records posts and does not answer until it is opened.
type hookReceiver struct {
	*httptest.Server
	open    chan struct{}
	reached chan struct{} // gets a value once a post has arrived

	mu    sync.Mutex
	posts []hookPost
}

type hookPost struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Records []struct{ ID string }
	} `json:"data"`
	body string
}

func newHookReceiver(t *testing.T) *hookReceiver {
	r := &hookReceiver{open: make(chan struct{}), reached: make(chan struct{}, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		p := hookPost{body: string(text)}
		if err := json.Unmarshal(text, &p); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		r.mu.Lock()
		r.posts = append(r.posts, p)
		r.mu.Unlock()
		r.reached <- struct{}{}
		select {
		case <-r.open:
		case <-req.Context().Done():
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// Events that happen while the server is down are sent when it starts. A server that is killed in
// the middle of a post sends it again with the same id and text. Nothing is lost.
func TestWebhooksOutliveTheServer(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 8})
	p := newWorkspace(t)
	r := newHookReceiver(t)
	c, url := served(t, "--data", p.data, "--allow-private")
	hook := fmt.Sprintf(`{"name": "h", "url": %q, "batch": {"records": 3, "seconds": 1}}`, r.URL)
	if status, a := ask(t, "POST", url+"/api/v1/webhooks", hook); status != http.StatusCreated {
		t.Fatalf("%d %v", status, a)
	}
	c.signal(syscall.SIGKILL)
	<-c.gone
	p.crawl(site.seed).expect(0)
	c, _ = served(t, "--data", p.data, "--allow-private")
	<-r.reached
	c.signal(syscall.SIGKILL)
	<-c.gone
	close(r.open)
	served(t, "--data", p.data, "--allow-private")
	eventually(t, patience, "tell the end of the crawl", func() (bool, string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.posts[len(r.posts)-1].Type == "crawl.ended", fmt.Sprint(len(r.posts))
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.posts[0].ID != r.posts[1].ID || r.posts[0].body != r.posts[1].body {
		t.Errorf("%s was sent, and then %s", r.posts[0].body, r.posts[1].body)
	}
	records, ids := make(map[string]bool), make(map[string]bool)
	for _, post := range r.posts[1:] {
		if ids[post.ID] {
			t.Errorf("%s was taken, and sent again", post.ID)
		}
		ids[post.ID] = true
		for _, record := range post.Data.Records {
			if records[record.ID] {
				t.Errorf("record %s is told twice", record.ID)
			}
			records[record.ID] = true
		}
	}
	if len(records) != len(site.pages) {
		t.Errorf("%d records of %d pages", len(records), len(site.pages))
	}
}
