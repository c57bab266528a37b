package fetcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"seine/pkg/messages"
)

// SecretPrefix is what the names of secrets have before them in the environment:
// a spec must not be able to ask for any variable there is.
const SecretPrefix = "SEINE_SECRET_"

// secrets are what "{secret:NAME}" stands for: SEINE_SECRET_NAME in the
// environment, else the file NAME in a folder, as container platforms mount
// them. They never leave the fetcher but in the requests they are for.
type secrets struct {
	folder string // none if empty
}

// get returns a secret. The error says how to provide it, as a failure.
func (s secrets) get(name string) (string, error) {
	if v, ok := os.LookupEnv(SecretPrefix + name); ok {
		return v, nil
	}
	if s.folder == "" {
		return "", fail(messages.Misconfigured, "secret %s is not known here: set %s%s, or --secrets to a folder with a file %s",
			name, SecretPrefix, name, name)
	}
	// A name has letters, digits and '_' only, so this stays in the folder.
	text, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		return "", fail(messages.Misconfigured, "secret %s is not known here: set %s%s, or mend its file: %v", name, SecretPrefix, name, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// fill replaces the secrets of a text that has no other places.
func (s secrets) fill(text string) (string, error) {
	return messages.Template(text).Fill(func(p messages.Place) (string, error) {
		if !p.Secret {
			return "", fmt.Errorf("{%s} means nothing here", p.Name)
		}
		return s.get(p.Name)
	})
}
