package embedded

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartSaysWhatKeepsTheServerFromIt(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, "jetstream"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		o    Options
		says []string
	}{
		"a port that is taken":           {Options{Dir: t.TempDir(), Host: "127.0.0.1", Port: taken.Addr().(*net.TCPAddr).Port}, []string{"is the port free", "address already in use"}},
		"a directory that is no use":     {Options{Dir: blocked, Host: "127.0.0.1", Port: -1}, []string{blocked, "is the disk full"}},
		"the same where nobody can call": {Options{Dir: blocked, Private: true}, []string{blocked, "is the disk full"}},
	} {
		s, err := Start(tt.o)
		if err == nil {
			s.Close()
			t.Errorf("%s: it starts", name)
			continue
		}
		for _, w := range tt.says {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want it to say %q", name, err, w)
			}
		}
	}
}
