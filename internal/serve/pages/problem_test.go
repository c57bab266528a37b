package pages

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	xrate "golang.org/x/time/rate"

	"seine/internal/serve/cluster"
)

// A reader that requests pages in a loop does not fill the log, whatever the errors.
func TestFailuresDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &server{Deps: Deps{Log: slog.New(slog.NewTextHandler(&log, nil))}, logged: xrate.Sometimes{Interval: time.Second}}
		for range 3 {
			for range 500 {
				for _, err := range []error{cluster.ErrAway, errors.New("unexpected"), badInput{errors.New("bad")}} {
					s.logFailure(problemOf(err).Status, httptest.NewRequest("GET", "/"+strings.Repeat("x", 1000), nil), err)
				}
			}
			time.Sleep(2 * time.Second)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 3 {
			t.Errorf("%d lines, want one a second", lines)
		}
	})
}
