package tokens

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seine/internal/serve/caller"
)

func create(t *testing.T, file, name string, life time.Duration, scopes ...caller.Scope) string {
	t.Helper()
	secret, err := Create(file, name, scopes, life)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// A secret identifies its token with name and scopes, and is not stored in the file.
func TestSecretIsKnownAndNotStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	secret := create(t, file, "reader", 0, caller.Read, caller.Records)
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), secret) || strings.Contains(string(text), strings.TrimPrefix(secret, Prefix)) {
		t.Errorf("the file has the secret: %s, %v", text, err)
	}
	if len(secret) < len(Prefix)+43 { // 256 bits in base64
		t.Errorf("the secret %q is short", secret)
	}
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := s.Caller(secret)
	if !ok || c.Name != "reader" || !c.May(caller.Records) || c.May(caller.Write) {
		t.Errorf("%+v, %v", c, ok)
	}
	for _, other := range []string{"", Prefix, secret + "x", secret[:len(secret)-1], strings.ToUpper(secret)} {
		if c, ok := s.Caller(other); ok {
			t.Errorf("%q is taken for %+v", other, c)
		}
	}
}

// A running server notices created and revoked tokens.
func TestStoreFollowsTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	s, err := Open(file)
	if err != nil || s.Len() != 0 {
		t.Fatal(s.Len(), err)
	}
	first := create(t, file, "first", 0, caller.Read)
	second := create(t, file, "second", 0, caller.Read)
	if _, ok := s.Caller(first); !ok {
		t.Error("a token that was made is not known")
	}
	if err := Revoke(file, "first"); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Caller(first); ok {
		t.Error("a token that was revoked is still known")
	}
	if _, ok := s.Caller(second); !ok {
		t.Error("another token was revoked, too")
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Caller(second); ok {
		t.Error("a file that cannot be read lets somebody in")
	}
}

func TestTokenExpires(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	synctest.Test(t, func(t *testing.T) {
		secret := create(t, file, "a", time.Hour, caller.Read)
		s, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - time.Second)
		if _, ok := s.Caller(secret); !ok {
			t.Error("it is not known before its time is over")
		}
		time.Sleep(time.Second)
		if _, ok := s.Caller(secret); ok {
			t.Error("it is known after its time")
		}
	})
}

func TestWrongTokensAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	create(t, file, "a", 0, caller.Read)
	for _, name := range []string{"", "a", "local", "a b", "-a", "a\n", strings.Repeat("a", 65)} {
		if _, err := Create(file, name, []caller.Scope{caller.Read}, 0); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Create(file, "b", []caller.Scope{"root"}, 0); err == nil || !strings.Contains(err.Error(), "read, write") {
		t.Errorf("an unknown scope: %v", err)
	}
	if err := Revoke(file, "b"); !errors.Is(err, ErrName) {
		t.Errorf("an unknown token is revoked: %v", err)
	}
	all, err := Read(file)
	if err != nil || !slices.EqualFunc(all, []string{"a"}, func(t Token, name string) bool { return t.Name == name }) {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
}

// Concurrent changes are all applied: no revoked token comes back, and no created token is lost.
func TestChangesAtATimeAreAllMade(t *testing.T) {
	for round := range 20 {
		file := filepath.Join(t.TempDir(), "tokens.json")
		const n = 8
		for i := range n {
			create(t, file, fmt.Sprint("old-", i), 0, caller.Read)
		}
		s, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		var secrets [n]string
		var changes sync.WaitGroup
		for i := range n {
			changes.Go(func() { secrets[i] = create(t, file, fmt.Sprint("new-", i), 0, caller.Write) })
			changes.Go(func() {
				if err := Revoke(file, fmt.Sprint("old-", i)); err != nil {
					t.Error(err)
				}
			})
		}
		changes.Wait()
		all, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range all {
			if !strings.HasPrefix(token.Name, "new-") {
				t.Errorf("round %d: %s was revoked, and is there", round, token.Name)
			}
		}
		for i, secret := range secrets {
			if _, ok := s.Caller(secret); !ok {
				t.Errorf("round %d: new-%d was created, and is not known", round, i)
			}
		}
	}
}

// Every change is noticed, even one that keeps the file's size within the resolution of its time
// stamp.
func TestStoreNoticesChangesOfTheSameTimeAndSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	old := create(t, file, "a", 0, caller.Read)
	at := time.Now()
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Revoke(file, "a"); err != nil {
		t.Fatal(err)
	}
	create(t, file, "b", 0, caller.Read)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Caller(old); ok {
		t.Error("a token that was revoked is still known")
	}
}
