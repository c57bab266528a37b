// Package secrets resolves "{secret:NAME}" in a spec. No spec, message, log or file of Seine
// contains a secret: only the process that sends it to its destination knows it.
package secrets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"seine/pkg/crawlspec"
)

// Prefix is the prefix of secrets in the environment: a spec must not be able to read arbitrary
// variables.
const Prefix = "SEINE_SECRET_"

// Store provides the secrets of a process: SEINE_SECRET_NAME in the environment, else the file NAME
// in a folder, as container platforms mount them.
type Store struct {
	Folder string // none if empty
}

// Validate returns an error if the folder does not exist.
func (s Store) Validate() error {
	if i, err := os.Stat(s.Folder); s.Folder != "" && (err != nil || !i.IsDir()) {
		return fmt.Errorf("secrets %s: must be a folder with a file for each secret", s.Folder)
	}
	return nil
}

// Get returns a secret. The error says how to provide the secret.
func (s Store) Get(name string) (string, error) {
	if v, ok := os.LookupEnv(Prefix + name); ok {
		return v, nil
	}
	if s.Folder == "" {
		return "", fmt.Errorf("secret %s is unknown: set %s%s, or --secrets to a folder with a file %s", name, Prefix, name, name)
	}
	// A name has letters, digits and '_' only, so this stays in the folder.
	text, err := os.ReadFile(filepath.Join(s.Folder, name))
	if err != nil {
		return "", fmt.Errorf("secret %s is not set: set %s%s or fix its file: %w", name, Prefix, name, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// Fill replaces the secrets of a text that has no other placeholders.
func (s Store) Fill(text string) (string, error) {
	return crawlspec.Template(text).Fill(func(p crawlspec.Placeholder) (string, error) {
		if !p.Secret {
			return "", fmt.Errorf("unknown placeholder {%s}", p.Name)
		}
		return s.Get(p.Name)
	})
}
