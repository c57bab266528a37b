// Package ageencrypt encrypts files for recipients and decrypts them, in the format of the tool age
// (age-encryption.org/v1): `age -d` reads its output.
//
// Every encryption uses a new random key, so equal contents encrypt to different bytes.
package ageencrypt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/armor"
)

// Ext is the suffix of the names of encrypted files.
const Ext = ".age"

// Is reports whether name has the suffix of an encrypted file.
func Is(name string) bool { return strings.HasSuffix(name, Ext) }

// PlainName returns a file name without the suffix of encrypted files.
func PlainName(name string) string { return strings.TrimSuffix(name, Ext) }

// Recipients are the holders of keys that can decrypt a file. The zero value does not encrypt.
type Recipients struct{ all []age.Recipient }

// ParseRecipients parses recipients: public keys of age or SSH, or @FILE for a file with one key
// per line. Each text may hold several, separated by commas.
func ParseRecipients(texts []string) (Recipients, error) {
	var r Recipients
	for _, text := range texts {
		for one := range strings.SplitSeq(text, ",") {
			if err := r.add(strings.TrimSpace(one)); err != nil {
				return Recipients{}, err
			}
		}
	}
	if len(r.all) == 0 && len(texts) > 0 {
		return r, errors.New("no recipient given")
	}
	if len(r.all) > 0 { // some kinds cannot be combined
		if _, err := age.Encrypt(io.Discard, r.all...); err != nil {
			return Recipients{}, fmt.Errorf("combine recipients: %w", err)
		}
	}
	return r, nil
}

func (r *Recipients) add(text string) error {
	file, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		one, err := parseRecipient(text)
		if err != nil {
			return err
		}
		r.all = append(r.all, one)
		return nil
	}
	lines, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read recipients: %w", err)
	}
	before := len(r.all)
	n := 0
	for line := range strings.Lines(string(lines)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		one, err := parseRecipient(line)
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", file, n, err)
		}
		r.all = append(r.all, one)
	}
	if len(r.all) == before {
		return fmt.Errorf("%s contains no recipient", file)
	}
	return nil
}

// parseRecipient parses one recipient. Its errors never repeat text that could be a secret.
func parseRecipient(text string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(text, "AGE-SECRET-KEY-"), strings.HasPrefix(text, "-----BEGIN"):
		return nil, errors.New("this is a secret key: a recipient is its public half (age-keygen -y FILE, ssh-keygen -y -f FILE)")
	case strings.HasPrefix(text, "age1"):
		all, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(all) != 1 {
			return nil, fmt.Errorf("%q is not a recipient of age: part of it is missing or mistyped, or it is for a plugin", text)
		}
		return all[0], nil
	case strings.HasPrefix(text, "ssh-"):
		one, err := agessh.ParseRecipient(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not an ssh-ed25519 or ssh-rsa key: %w", text, err)
		}
		return one, nil
	}
	return nil, fmt.Errorf("%q: must be age1…, ssh-ed25519 …, ssh-rsa …, or @FILE with such", text)
}

// Any reports whether there are recipients.
func (r Recipients) Any() bool { return len(r.all) > 0 }

// Len returns the number of recipients.
func (r Recipients) Len() int { return len(r.all) }

// Writer returns a writer that encrypts to w. Close completes the file and does not close w. A
// writer that is dropped without Close holds only memory.
func (r Recipients) Writer(w io.Writer) (io.WriteCloser, error) {
	out, err := age.Encrypt(w, r.all...)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return out, nil
}

// Identities are the secret keys that decrypt files.
type Identities struct{ all []age.Identity }

// ReadIdentities reads files of secret keys: age keys, one per line, or an SSH key.
func ReadIdentities(files []string) (Identities, error) {
	var ids Identities
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return ids, fmt.Errorf("read identity: %w", err)
		}
		more, err := parseIdentities(text)
		if err != nil {
			return ids, fmt.Errorf("--identity %s: %w", file, err)
		}
		ids.all = append(ids.all, more...)
	}
	return ids, nil
}

// parseIdentities parses one identity file. Its errors never repeat the text.
func parseIdentities(text []byte) ([]age.Identity, error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case bytes.HasPrefix(trimmed, []byte(armor.Header)), bytes.HasPrefix(trimmed, []byte("age-encryption.org/")):
		return nil, errors.New("is encrypted itself: decrypt it by age -d first")
	case bytes.HasPrefix(trimmed, []byte("-----BEGIN")):
		id, err := agessh.ParseIdentity(trimmed)
		if err != nil && strings.Contains(err.Error(), "passphrase") {
			return nil, errors.New("is protected by a passphrase: use a copy without one (ssh-keygen -p -f COPY)")
		}
		if err != nil {
			return nil, errors.New("is not an ssh-ed25519 or ssh-rsa key")
		}
		return []age.Identity{id}, nil
	case bytes.HasPrefix(trimmed, []byte("age1")), bytes.HasPrefix(trimmed, []byte("ssh-")):
		return nil, errors.New("holds a public key: the identity is the secret one")
	}
	all, err := age.ParseIdentities(bytes.NewReader(trimmed))
	if err != nil {
		return nil, errors.New("is neither an identity of age (AGE-SECRET-KEY-…, a line each) nor an SSH key")
	}
	return all, nil
}

// Errors of Open.
var (
	// ErrNoIdentity is returned for an encrypted file if there are no identities.
	ErrNoIdentity = errors.New("it is encrypted: give the file of the secret key with --identity")
	// ErrWrongIdentity is returned for a file that is encrypted for other recipients.
	ErrWrongIdentity = errors.New("it is encrypted for other recipients: none of the given identities can decrypt it")
)

// Open returns the content of an encrypted file. Reading it fails if the file was changed or
// truncated.
func (ids Identities) Open(r io.Reader) (io.Reader, error) {
	if len(ids.all) == 0 {
		return nil, ErrNoIdentity
	}
	in, err := age.Decrypt(r, ids.all...)
	if _, other := errors.AsType[*age.NoIdentityMatchError](err); other {
		return nil, ErrWrongIdentity
	}
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	return in, nil
}
