package testweb

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestHandle(t *testing.T) {
	w := New(Config{Hosts: 2})
	say := func(text string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, text) }
	}
	w.Handle(0, "/x", say("any"))
	w.Handle(0, "/x?q=1", say("one"))
	w.Handle(0, "/", say("home"))
	for path, want := range map[string]string{"/x": "any", "/x?q=2": "any", "/x?q=1": "one", "/": "home"} {
		if got := get(w, base0+path).Body.String(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if res := get(w, "http://h1.localhost/x"); res.Code != http.StatusNotFound {
		t.Errorf("another host: %d", res.Code)
	}
	w.Handle(0, "/", nil)
	if got := get(w, base0+"/").Body.String(); !strings.Contains(got, "<!DOCTYPE html>") {
		t.Errorf("given back: %q", got)
	}
}

func TestSetStatus(t *testing.T) {
	w := New(Config{Hosts: 2})
	w.SetStatus(0, http.StatusTooManyRequests, "120")
	w.Handle(0, "/robots.txt", func(http.ResponseWriter, *http.Request) {})
	res := get(w, base0+"/")
	if res.Code != http.StatusTooManyRequests || res.Header().Get("Retry-After") != "120" {
		t.Errorf("%d, Retry-After %q", res.Code, res.Header().Get("Retry-After"))
	}
	for _, target := range []string{base0 + "/robots.txt", "http://h1.localhost/"} {
		if res := get(w, target); res.Code != http.StatusOK {
			t.Errorf("%s: %d", target, res.Code)
		}
	}
	w.SetStatus(0, 0, "")
	if res := get(w, base0+"/"); res.Code != http.StatusOK {
		t.Errorf("after: %d", res.Code)
	}
}

func TestSetHostDown(t *testing.T) {
	w := New(Config{Hosts: 2})
	s := Run(t, w)
	client := s.Client()
	status := func(host int) int {
		res, err := client.Get(s.URL(host, "/"))
		if err != nil {
			return 0
		}
		defer func() { _ = res.Body.Close() }()
		return res.StatusCode
	}
	w.SetHostDown(0, true)
	if got := status(0); got != 0 {
		t.Errorf("down: %d", got)
	}
	if got := status(1); got != http.StatusOK {
		t.Errorf("the other host: %d", got)
	}
	w.SetHostDown(0, false)
	if got := status(0); got != http.StatusOK {
		t.Errorf("up again: %d", got)
	}
	if got := w.RequestsTo(0)[0]; got.Status != 0 || got.Bytes != 0 {
		t.Errorf("log of a cut connection: %+v", got)
	}
}
