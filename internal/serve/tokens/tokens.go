// Package tokens stores the bearer tokens of the server in a file: the name, the scopes and the
// SHA-256 of the secret of each. A secret has 256 random bits, so it cannot be guessed and a fast
// hash suffices. The file does not reveal secrets.
//
// `seine token` replaces the file atomically; a running server reads it again at the next request.
package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"seine/internal/base/atomicfile"
	"seine/internal/base/filelock"
	"seine/internal/base/lazyregexp"
	"seine/internal/serve/caller"
)

// Prefix is the prefix of every secret, for secret scanners.
const Prefix = "seine_"

// Token describes a token. It does not contain the secret.
type Token struct {
	Name    string         `json:"name"`
	Scopes  []caller.Scope `json:"scopes"`
	SHA256  string         `json:"sha256"` // of the secret, in hexadecimal
	Created time.Time      `json:"created"`
	Expires time.Time      `json:"expires,omitzero"` // zero for never
}

// ErrName is returned for a name that is invalid, taken, or unknown.
var ErrName = errors.New("name of a token")

// maxTokens bounds the tokens of a file.
const maxTokens = 1000

var namePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// file is the stored form.
type file struct {
	V      int     `json:"v"`
	Tokens []Token `json:"tokens"`
}

// Read returns the tokens in a file, none if there is no file. It rejects a file that other users
// can read or change.
func Read(name string) ([]Token, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("tokens %s: other users can read or change it: run chmod 600, and re-create its tokens if another user may have read them", name)
	}
	var f file
	if err == nil {
		err = atomicfile.ReadJSON(name, &f)
	}
	if err == nil && f.V != 1 {
		err = fmt.Errorf("it has version %d, this build reads 1", f.V)
	}
	if err != nil {
		return nil, fmt.Errorf("read tokens: %s: %w", name, err)
	}
	return f.Tokens, nil
}

func write(name string, all []Token) error {
	if err := atomicfile.WriteJSON(name, file{V: 1, Tokens: all}); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}

// Create adds a token to a file, and returns its secret, which is not stored. With a life of 0 it
// never expires.
func Create(name, token string, scopes []caller.Scope, life time.Duration) (secret string, err error) {
	if !namePattern().MatchString(token) || token == caller.Local {
		return "", fmt.Errorf("%w %q: must begin with a letter or digit and have only letters, digits, '.', '_' and '-', 64 at most, and not be %s", ErrName, token, caller.Local)
	}
	if err := caller.CheckScopes(scopes); err != nil {
		return "", err
	}
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	secret = Prefix + base64.RawURLEncoding.EncodeToString(bits)
	t := Token{Name: token, Scopes: scopes, SHA256: hash(secret), Created: time.Now().UTC()}
	if life > 0 {
		t.Expires = t.Created.Add(life)
	}
	return secret, change(name, func(all []Token) ([]Token, error) {
		switch {
		case slices.ContainsFunc(all, func(t Token) bool { return t.Name == token }):
			return nil, fmt.Errorf("%w %s: is taken: revoke that token first, or give another name", ErrName, token)
		case len(all) >= maxTokens:
			return nil, fmt.Errorf("%s has %d tokens, the maximum: revoke unused ones", name, len(all))
		}
		return append(all, t), nil
	})
}

// Revoke removes a token from a file.
func Revoke(name, token string) error {
	return change(name, func(all []Token) ([]Token, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(t Token) bool { return t.Name == token })
		if len(left) == len(all) {
			return nil, fmt.Errorf("%w %s: %s has no such token (seine token list shows them)", ErrName, token, name)
		}
		return left, nil
	})
}

// change replaces the tokens in a file by the result of do. Changes are serialized.
func change(name string, do func([]Token) ([]Token, error)) error {
	return filelock.With(name+".lock", func() error {
		all, err := Read(name)
		if err != nil {
			return err
		}
		if all, err = do(all); err != nil {
			return err
		}
		return write(name, all)
	})
}

func hash(secret string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))
}
