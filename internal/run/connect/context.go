package connect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
)

// isFile reports whether a context is given as a file.
func isFile(context string) bool {
	return strings.ContainsRune(context, filepath.Separator) || strings.HasSuffix(context, ".json")
}

// contextFile is the context in the directory of a user.
const contextFile = "context.json"

// ReadContext reads a context of the nats CLI from its file, or from the directory of a user.
// Relative paths in it are relative to the context file, so the directory can be moved.
func ReadContext(name string) (*Options, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, contextFile)
	}
	c, err := natscontext.NewFromFile(name)
	if err != nil {
		return nil, fmt.Errorf("read context %s: %w", name, err)
	}
	var change []natscontext.Option
	for _, named := range []struct {
		file string
		is   func(string) natscontext.Option
	}{
		{c.Creds(), natscontext.WithCreds}, {c.NKey(), natscontext.WithNKey}, {c.CA(), natscontext.WithCA},
		{c.Certificate(), natscontext.WithCertificate}, {c.Key(), natscontext.WithKey},
	} {
		if named.file == "" || strings.Contains(named.file, ":") { // such as env:NAME and data:…
			continue
		}
		file := named.file
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(name), file)
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("context %s: %w", name, err)
		}
		change = append(change, named.is(file))
	}
	if c, err = natscontext.NewFromFile(name, change...); err != nil {
		return nil, fmt.Errorf("read context %s: %w", name, err)
	}
	return fromContext(c), nil
}

// knownContext reads a context of the nats CLI by its name, or the selected one.
func knownContext(name string) (*Options, error) {
	if name == SelectedContext {
		if name = natscontext.SelectedContext(); name == "" {
			return nil, errors.New("no context is selected: `nats context select` does that")
		}
	}
	c, err := natscontext.New(name, true)
	if err != nil {
		return nil, fmt.Errorf("context %q: %w (`nats context ls` lists all)", name, err)
	}
	return fromContext(c), nil
}

func fromContext(c *natscontext.Context) *Options {
	return &Options{NATS: c.ServerURL(), CA: c.CA(), token: c.Token(), context: c}
}

// apiPrefix returns the JetStream API prefix of a context, "" for the default.
func apiPrefix(c *natscontext.Context) string {
	if domain := c.JSDomain(); domain != "" {
		return "$JS." + domain + ".API"
	}
	return c.JSAPIPrefix()
}
