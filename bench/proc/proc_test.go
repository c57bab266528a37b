package proc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCommandsThatWereBuilt(t *testing.T) {
	bin := t.TempDir()
	for i, name := range []string{NATSServer, "seine", ""} {
		got, err := Commands(t.Context(), "", bin, "seine")
		if complete := i == 2; (err == nil) != complete || complete && got != bin {
			t.Errorf("before %q is there: %s, %v", name, got, err)
		}
		if name == "" {
			break
		}
		if err := os.WriteFile(filepath.Join(bin, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(natsConfig(bin)); err != nil {
		t.Error(err)
	}
}
