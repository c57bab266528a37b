package webhooks

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"seine/internal/base/atomicfile"
)

// An unreadable file is quarantined and listed; the other webhooks are loaded.
func TestUnreadableWebhooksAreSetAside(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "z"} {
		if err := (&file{V: 1, Hook: Hook{Name: name}}).save(dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"cut": `{"v":1,"ho`, "empty": "", "later": `{"v":2,"hook":{"name":"later"}}`, "other": `{"v":1,"hook":{"name":"a"}}`, "binary": "\x00\xff"} {
		if err := os.WriteFile(filepath.Join(dir, name+atomicfile.JSON), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		all, err := readAll(dir, slog.New(slog.DiscardHandler))
		if err != nil || len(all) != 2 || all[0].Hook.Name != "a" || all[1].Hook.Name != "z" {
			t.Fatalf("round %d: %d webhooks, %v", round, len(all), err)
		}
		var names []string
		for _, l := range unreadable(dir) {
			if names = append(names, l.Name); l.Error == "" {
				t.Errorf("%s has no error", l.Name)
			}
		}
		if len(names) != 5 {
			t.Errorf("set aside are %v", names)
		}
	}
}
