package main

import (
	"os"
	"path/filepath"
	"testing"

	"seine/internal/run/connect"
)

// Where no place is named, the streams are those of ./seine-data, if it has any.
func TestReplayTakesTheUsualData(t *testing.T) {
	t.Chdir(t.TempDir())
	wantData := func(s streamFlags, want string) {
		t.Helper()
		if s.useDefault(); s.Data != want {
			t.Errorf("--data is %q, want %q", s.Data, want)
		}
	}
	wantData(streamFlags{}, "")
	if err := os.MkdirAll(filepath.Join(connect.DefaultData, "nats", "jetstream"), 0o755); err != nil {
		t.Fatal(err)
	}
	wantData(streamFlags{}, connect.DefaultData)
	wantData(streamFlags{Data: "other"}, "other")
	wantData(streamFlags{Options: connect.Options{NATS: "nats://a.test"}}, "")
}
