package ageencrypt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), "key")
	check(t, os.WriteFile(f, []byte(text), 0o600))
	return f
}

// keys returns pairs of recipient and identity, by kind.
func keys(t *testing.T) map[string][2]string {
	t.Helper()
	x, err := age.GenerateX25519Identity()
	check(t, err)
	h, err := age.GenerateHybridIdentity()
	check(t, err)
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	sshPub, err := ssh.NewPublicKey(pub)
	check(t, err)
	block, err := ssh.MarshalPrivateKey(priv, "")
	check(t, err)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(priv, "", []byte("secret"))
	check(t, err)
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sshPub)))
	return map[string][2]string{
		"X25519": {x.Recipient().String(), x.String()},
		"hybrid": {h.Recipient().String(), h.String()},
		"SSH":    {line + " someone@somewhere", string(pem.EncodeToMemory(block))},
		"locked": {line, string(pem.EncodeToMemory(locked))},
	}
}

func seal(t *testing.T, text string, recipients ...string) []byte {
	t.Helper()
	r, err := ParseRecipients(recipients)
	check(t, err)
	var out bytes.Buffer
	w, err := r.Writer(&out)
	check(t, err)
	_, err = io.WriteString(w, text)
	check(t, err)
	check(t, w.Close())
	return out.Bytes()
}

// Each recipient can decrypt a file for several recipients, however they were named.
func TestRoundTrip(t *testing.T) {
	all := keys(t)
	text := strings.Repeat("some text\n", 20000)
	for _, recipients := range [][]string{
		{all["X25519"][0], all["SSH"][0]},
		{all["X25519"][0] + ", " + all["SSH"][0]},
		{"@" + file(t, "# ours\n\n"+all["X25519"][0]+"\n"+all["SSH"][0]+"\n")},
	} {
		sealedText := seal(t, text, recipients...)
		if bytes.Contains(sealedText, []byte("some text")) {
			t.Fatal("it is not encrypted")
		}
		for _, who := range []string{"X25519", "SSH"} {
			ids, err := ReadIdentities([]string{file(t, "\n# a comment of age-keygen\n"+all[who][1]+"\n")})
			if who == "SSH" {
				ids, err = ReadIdentities([]string{file(t, all[who][1])})
			}
			check(t, err)
			r, err := ids.Open(bytes.NewReader(sealedText))
			check(t, err)
			got, err := io.ReadAll(r)
			check(t, err)
			if string(got) != text {
				t.Errorf("%s reads %d bytes that are not those", who, len(got))
			}
		}
	}
	if h := seal(t, text, all["hybrid"][0]); len(h) < len(text) {
		t.Error("nothing was encrypted for the hybrid key")
	}
	if bytes.Equal(seal(t, text, all["X25519"][0]), seal(t, text, all["X25519"][0])) {
		t.Error("the same content gives the same bytes: then package writer's argument should say so")
	}
}

func TestRefusals(t *testing.T) {
	all := keys(t)
	for text, want := range map[string]string{
		"":                          "must be age1",
		"me@example.org":            "must be age1",
		all["X25519"][0] + "x":      "mistyped",
		"age1yubikey1qg8":           "plugin",
		"ssh-dss AAAA":              "ssh-ed25519",
		"ssh-ed25519 AAAA":          "not an ssh-ed25519 or ssh-rsa key",
		"@/no/such/file":            "no such file",
		"@" + file(t, "# nobody\n"): "contains no recipient",
		"@" + file(t, "#\nnobody"):  "line 2",
		all["X25519"][1]:            "secret key",
		all["X25519"][0] + ",":      "must be age1",
		all["X25519"][0] + "," + all["hybrid"][0]: "combine recipients",
	} {
		_, err := ParseRecipients([]string{text})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("recipient %q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "AGE-SECRET-KEY") {
			t.Error("the secret is in the error")
		}
	}
	for text, want := range map[string]string{
		"":                                     "neither an identity",
		"nonsense":                             "neither an identity",
		all["X25519"][0]:                       "public key",
		all["locked"][1]:                       "passphrase",
		"-----BEGIN X":                         "not an ssh-ed25519 or ssh-rsa key",
		string(seal(t, "x", all["X25519"][0])): "encrypted itself",
	} {
		if _, err := ReadIdentities([]string{file(t, text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("identity %.20q: %v, want %q", text, err, want)
		}
	}
	sealedText := seal(t, "text", all["X25519"][0])
	if _, err := (Identities{}).Open(bytes.NewReader(sealedText)); !errors.Is(err, ErrNoIdentity) {
		t.Errorf("without an identity: %v", err)
	}
	other, err := ReadIdentities([]string{file(t, all["SSH"][1])})
	check(t, err)
	if _, err := other.Open(bytes.NewReader(sealedText)); !errors.Is(err, ErrWrongIdentity) {
		t.Errorf("with another identity: %v", err)
	}
	right, err := ReadIdentities([]string{file(t, all["X25519"][1])})
	check(t, err)
	for what, text := range map[string][]byte{"cut": sealedText[:len(sealedText)-1], "no header": []byte("text")} {
		r, err := right.Open(bytes.NewReader(text))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		if err == nil {
			t.Errorf("%s: it can be read", what)
		}
	}
}
