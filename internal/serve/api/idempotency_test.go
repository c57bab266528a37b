package api_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/internal/serve/tokens"
)

// A request with an idempotency key is executed once for its caller, independently of other
// callers, also after a restart of the server.
func TestKeysOfACallerAreItsOwn(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	file := filepath.Join(dir, "tokens.json")
	bearer := func(name string, scopes ...caller.Scope) string {
		secret, err := tokens.Create(file, name, scopes, 0)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + secret
	}
	writer, reader, second := bearer("writer", caller.Read, caller.Write), bearer("reader", caller.Read), bearer("second", caller.Write)
	open := func() *server {
		return newServer(t, data, func(o *serve.Options, ao *api.Options) {
			var err error
			if o.Tokens, err = tokens.Open(file); err != nil {
				t.Fatal(err)
			}
			ao.Keys = filepath.Join(dir, "keys")
		})
	}
	s := open()
	post := func(who, key, name string) *answer {
		return s.do("POST", "/webhooks", fmt.Sprintf(`{"name": %q, "url": "http://127.0.0.1:1/", "events": ["crawl.ended"]}`, name),
			"Authorization", who, "Idempotency-Key", key)
	}
	first := post(writer, "k", "one")
	if first.status != http.StatusCreated {
		t.Fatal(first)
	}
	again := func(when string) {
		t.Helper()
		if a := post(writer, "k", "one"); a.status != http.StatusCreated || string(a.text) != string(first.text) || a.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: the same request again: %v, first %v", when, a, first)
		}
	}
	again("at once")
	var all sync.WaitGroup
	for part := range 8 {
		all.Go(func() {
			for i := range 80 {
				key := fmt.Sprint(part, " ", i)
				if a := post(reader, key, "x"); a.status != http.StatusForbidden {
					t.Errorf("a reader writes: %v", a)
				}
				if a := post(writer, key, "one"); a.status != http.StatusConflict { // refused by the operation
					t.Errorf("a second webhook of the name: %v", a)
				}
			}
		})
	}
	all.Wait()
	again("after many requests that were refused")
	if a := post(second, "k", "two"); a.status != http.StatusCreated {
		t.Errorf("another caller with the same key: %v", a)
	}
	if a := post(writer, "k", "three"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("another request with the key: %v", a)
	}
	s = open()
	again("after a restart")
}

// Concurrent requests with the same key are executed once.
func TestRequestsWithAKeyAtATimeAreDoneOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"))
	for round := range 10 {
		statuses := make([]int, 8)
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() {
				a := s.do("POST", "/webhooks", fmt.Sprintf(`{"name": "w%d", "url": "http://127.0.0.1:1/", "events": ["crawl.ended"]}`, round), "Idempotency-Key", fmt.Sprint(round))
				if statuses[i] = a.status; a.status == http.StatusConflict && !strings.Contains(string(a.text), "in flight") {
					t.Errorf("it was done twice: %v", a)
				}
			})
		}
		all.Wait()
		created := 0
		for _, status := range statuses {
			if status == http.StatusCreated {
				created++
			} else if status != http.StatusConflict {
				t.Errorf("statuses %v", statuses)
			}
		}
		if created == 0 {
			t.Errorf("statuses %v: none has the answer", statuses)
		}
	}
}
