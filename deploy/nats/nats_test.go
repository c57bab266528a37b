package nats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// The lines that the configurations have for encryption work when they are taken in, and
// the file without them encrypts nothing.
func TestStoreIsEncryptedByTwoLines(t *testing.T) {
	const key = "1gA+/thirty-two random characters="
	t.Setenv("NATS_STORE_KEY", `"`+key+`"`)
	for _, name := range []string{"nats-server.conf", "locked.conf"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(text), "\njetstream {")
		if !found {
			t.Fatalf("%s has no section jetstream", name)
		}
		section, _, _ = strings.Cut("jetstream {"+section, "\n}")
		section = strings.ReplaceAll(section+"\n}\n", "$SITE_STORE_DIR", "/data")
		for _, encrypted := range []bool{false, true} {
			if encrypted {
				section = strings.NewReplacer("  #cipher:", "  cipher:", "  #key:", "  key:").Replace(section)
			}
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(section), 0o600); err != nil {
				t.Fatal(err)
			}
			o, err := server.ProcessConfigFile(file)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, section)
			}
			if got := o.JetStreamKey == key && o.JetStreamCipher == server.ChaCha; got != encrypted {
				t.Errorf("%s: key %q, cipher %v, want encrypted: %v", name, o.JetStreamKey, o.JetStreamCipher, encrypted)
			}
		}
	}
}
