package testweb

import (
	"net/http"
	"strings"
	"testing"
)

func TestServerURL(t *testing.T) {
	s := Run(t, New(Config{Hosts: 2}))
	if got := s.URL(1, "/x"); !strings.HasPrefix(got, "http://h1.localhost:") || !strings.HasSuffix(got, "/x") {
		t.Errorf("URL %q", got)
	}
	if !strings.HasPrefix(s.Addr(), "127.0.0.1:") {
		t.Errorf("listens on %s", s.Addr())
	}
	demo := Run(t, Demo())
	res, err := http.Get(demo.URL(0, "/"))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if _, err := Serve(s.Addr(), Demo()); err == nil {
		t.Error("the same address twice")
	}
}

// TestCloseEndsEndlessAnswers also shows that Close waits: the log is final when it returns.
func TestCloseEndsEndlessAnswers(t *testing.T) {
	w := New(Config{Special: true})
	s := Run(t, w)
	client := s.Client()
	for _, name := range []string{"endless", "stall"} {
		res, err := client.Get(s.URL(0, specialPrefix+name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
	}
	s.Close()
	for _, r := range w.Requests() {
		if r.End.IsZero() {
			t.Errorf("still open: %+v", r)
		}
	}
}
