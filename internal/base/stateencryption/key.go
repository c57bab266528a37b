// Package stateencryption encrypts the state that a crawl keeps on its disk with the key from a
// file: the streams, with NATS' own encryption, and the frontier's store, with a file system for
// Pebble. Without the key the state cannot be read. The key is stored nowhere.
package stateencryption

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"seine/internal/base/atomicfile"
	"seine/internal/base/filelock"
)

// Bounds of the text of a key file. Shorter keys could be guessed.
const (
	minText = 32
	maxText = 4096
)

// Key encrypts a state. A nil Key encrypts nothing.
type Key struct{ secret []byte }

// load reads the key from a file: random text of at least 32 characters.
func load(file string) (*Key, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if len(text) < minText || len(text) > maxText {
		return nil, fmt.Errorf("%s: invalid key: it has %d characters, a key has %d to %d (openssl rand -base64 32 > %s)",
			file, len(text), minText, maxText, file)
	}
	return &Key{text}, nil
}

// Check returns an error if a file contains no valid key.
func Check(file string) error {
	if _, err := load(file); err != nil {
		return fmt.Errorf("--encrypt-state: %w", err)
	}
	return nil
}

// derive derives 32 bytes for a purpose.
func (k *Key) derive(purpose string, salt []byte) []byte {
	b, err := hkdf.Key(sha256.New, k.secret, salt, "seine state: "+purpose, 32)
	if err != nil {
		panic(err) // only for invalid lengths
	}
	return b
}

// NATS returns the key for the streams of a server, "" for none.
func (k *Key) NATS() string {
	if k == nil {
		return ""
	}
	return hex.EncodeToString(k.derive("streams", nil))
}

// noteName is the file in a state directory that marks it as encrypted. It contains a salt to check
// the key, and the last location of the key file.
const noteName = "ENCRYPTED"

// ErrKey is returned for a wrong or missing key.
var ErrKey = errors.New("the key of the state")

// Open returns the key of the state in dir. file is the key file; if it is empty, Open uses the
// last location of the key file, and returns nil if the state is not encrypted. A state is
// encrypted from its beginning or not at all.
func Open(dir, file string) (*Key, error) {
	have, err := readNote(dir)
	switch {
	case errors.Is(err, os.ErrNotExist) && file == "":
		return nil, nil
	case errors.Is(err, os.ErrNotExist):
		return beginAlone(dir, file)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if file == "" {
		file = have.file
	}
	k, err := load(file)
	if err != nil {
		return nil, fmt.Errorf("%w: the state in %s is encrypted with the key in %s: %w (if it has moved: seine crawl --data %s --encrypt-state FILE)",
			ErrKey, dir, have.file, err, dir)
	}
	if !hmac.Equal(k.derive("check", have.salt), have.check) {
		return nil, fmt.Errorf("%w: the state in %s is encrypted with another key than that in %s (it was in %s)", ErrKey, dir, file, have.file)
	}
	return k, k.note(dir, have.salt, file)
}

// beginAlone is begin under a lock: two processes that begin with different keys would otherwise
// both use the state.
func beginAlone(dir, file string) (k *Key, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	err = filelock.With(filepath.Join(dir, noteName+".lock"), func() error {
		if _, there := os.Stat(filepath.Join(dir, noteName)); there == nil {
			k, err = Open(dir, file)
		} else {
			k, err = begin(dir, file)
		}
		return err
	})
	return k, err
}

// begin reads the key for a new state.
func begin(dir, file string) (*Key, error) {
	for _, part := range []string{"nats", "frontier"} {
		if _, err := os.Stat(filepath.Join(dir, part)); !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w: the state in %s is not encrypted and cannot be encrypted later: use another --data, or omit --encrypt-state", ErrKey, dir)
		}
	}
	k, err := load(file)
	if err != nil {
		return nil, fmt.Errorf("--encrypt-state: %w", err)
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return k, k.note(dir, salt, file)
}

type note struct {
	salt, check []byte
	file        string
}

func readNote(dir string) (n note, err error) {
	text, err := os.ReadFile(filepath.Join(dir, noteName))
	if err != nil {
		return n, err
	}
	lines := strings.SplitN(strings.TrimSuffix(string(text), "\n"), "\n", 3)
	if len(lines) == 3 {
		salt, serr := hex.DecodeString(lines[0])
		check, cerr := hex.DecodeString(lines[1])
		n, err = note{salt, check, lines[2]}, errors.Join(serr, cerr)
	}
	if len(lines) != 3 || err != nil {
		return n, fmt.Errorf("%s is damaged: bring it back from a copy", filepath.Join(dir, noteName))
	}
	return n, nil
}

// note marks the state in dir as encrypted, and stores the location of the key file.
func (k *Key) note(dir string, salt []byte, file string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%x\n%x\n%s\n", salt, k.derive("check", salt), abs)
	name := filepath.Join(dir, noteName)
	if have, err := os.ReadFile(name); err == nil && string(have) == text {
		return nil
	}
	if err := atomicfile.Write(name, []byte(text)); err != nil {
		return fmt.Errorf("note that the state is encrypted: %w", err)
	}
	return nil
}
