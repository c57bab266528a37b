package api

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A caller that sends requests in a loop does not fill the log.
func TestFailuresDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		a := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 3 {
			for range 500 {
				_ = a.problemOf(errors.New("unexpected"))
			}
			time.Sleep(2 * time.Second)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 3 {
			t.Errorf("%d lines, want one a second", lines)
		}
	})
}
