package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/synadia-io/orbit.go/natscontext"

	"seine/internal/base/jsontext"
)

// isFile reports whether a context is named by its file.
func isFile(context string) bool {
	return strings.ContainsRune(context, filepath.Separator) || strings.HasSuffix(context, ".json")
}

// contextFile is the context in the folder of a user.
const contextFile = "context.json"

// ReadContext reads a context of the nats command from its file, or from the folder of
// a user. Files that it names are looked for beside it, so that such a folder can be
// moved.
func ReadContext(name string) (*Options, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, contextFile)
	}
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	var c natscontext.Settings
	if err := jsontext.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: not a context of the nats command: %w", name, err)
	}
	beside := func(file string) string {
		if file == "" || filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(filepath.Dir(name), file)
	}
	o := &Options{
		NATS: c.URL, Creds: beside(c.Creds), NKey: beside(c.NKey), CA: beside(c.CA), Cert: beside(c.Cert), Key: beside(c.Key),
		Inbox: c.InboxPrefix, token: c.Token, user: c.User, password: c.Password,
	}
	if c.NSCLookup != "" || c.SocksProxy != "" || c.TLSFirst {
		return nil, fmt.Errorf("%s: nsc, socks_proxy and tls_first are known of named contexts only", name)
	}
	for _, file := range []string{o.Creds, o.NKey, o.CA, o.Cert, o.Key} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return o, nil
}
