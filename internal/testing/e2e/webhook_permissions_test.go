package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
)

// heard records the posts that a receiver got.
type heard struct {
	*httptest.Server
	mu    sync.Mutex
	types map[string]int // number of posts, by webhook and type
}

func (l *locked) receiver() *heard {
	h := &heard{types: make(map[string]int)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var post struct{ Type, Webhook string }
		if err := json.NewDecoder(r.Body).Decode(&post); err != nil {
			l.t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.types[post.Webhook+" "+post.Type]++
	}))
	l.t.Cleanup(h.Close)
	return h
}

func (h *heard) has(what string) (bool, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.types[what] > 0, fmt.Sprint(h.types)
}

// serveHooksAs starts a server as a NATS user with webhooks in its state folder, and returns the
// webhooks' URL.
func (l *locked) serveHooksAs(user, state string) (server *command, webhooks string) {
	l.t.Helper()
	server, url := served(l.t, append(l.as(user), "--state", state, "--allow-private")...)
	return server, url + "/api/v1/webhooks"
}

// wantWebhooksWithoutRecords checks a server whose user may not read records: it refuses webhooks
// for records, reports existing ones as failing, and still sends the ends of crawls, here of one
// that may not send requests to its host.
func (l *locked) wantWebhooksWithoutRecords(private string) {
	l.t.Helper()
	to, state := l.receiver(), l.t.TempDir()
	hook := func(name, event string) string {
		return fmt.Sprintf(`{"name": %q, "url": %q, "crawl": "late", "events": [%q], "batch": {"seconds": 1}}`, name, to.URL, event)
	}
	first, webhooks := l.serveHooksAs("operator", state)
	if status, a := ask(l.t, "POST", webhooks, hook("before", "records")); status != http.StatusCreated {
		l.t.Fatalf("as operator: %d %v", status, a)
	}
	first.signal(syscall.SIGTERM)
	first.expect(0)
	_, webhooks = l.serveHooksAs("viewer", state)
	status, a := ask(l.t, "POST", webhooks, hook("refused", "records"))
	if detail := fmt.Sprint(a["detail"]); status != http.StatusForbidden || !strings.Contains(detail, "lacks the permission to read them") || !strings.Contains(detail, "user viewer") {
		l.t.Errorf("as viewer: %d %v", status, a)
	}
	eventually(l.t, patience, "create a webhook of ends", func() (bool, string) { // another refusal may have ended the request
		status, a := ask(l.t, "POST", webhooks, hook("ends", "crawl.ended"))
		return status == http.StatusCreated, fmt.Sprint(a)
	})
	eventually(l.t, patience, "say why records are not told", func() (bool, string) {
		_, a := ask(l.t, "GET", webhooks, "")
		return strings.Contains(fmt.Sprint(a["items"]), "lacks the permission to read them"), fmt.Sprint(a)
	})
	wantOutput(l.t, l.seine("operator", "seed", "--crawl", "late", "--new", private), "1 URL was added")
	eventually(l.t, patience, "be told the end", func() (bool, string) { return to.has("ends crawl.ended") }, l.all()...)
}
