package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAnswersAreCountedByName(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	a := newAnswers()
	if err := a.ask(t.Context(), []request{{"good", s.URL}, {"bad", s.URL + "/bad"}}, 1000, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if len(a.took["good"]) != 50 || len(a.took["bad"]) != 50 || a.failed["good"] != 0 || a.failed["bad"] != 50 {
		t.Errorf("%d good, %d bad, failed %v", len(a.took["good"]), len(a.took["bad"]), a.failed)
	}
}

func TestReportHasAllRows(t *testing.T) {
	a := newAnswers()
	for i := range 100 {
		a.add("b", time.Duration(i+1)*time.Millisecond, nil)
	}
	a.add("a", time.Second, http.ErrHandlerTimeout)
	var b strings.Builder
	a.report(&b)
	const want = `| GET | requests | p50 ms | p99 ms | longest ms | failed |
|---|---:|---:|---:|---:|---:|
| a | 1 | 1000.0 | 1000.0 | 1000 | 1 |
| b | 100 | 51.0 | 100.0 | 100 | 0 |
| all | 101 | 51.0 | 100.0 | 1000 | 1 |
the first that failed: a: http: Handler timeout
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
