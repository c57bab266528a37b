package webhooks

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// While a secret is replaced, posts can be verified with either secret; afterwards only with the
// new one.
func TestBothSecretsSignWhileOneIsReplaced(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	h := Hook{Secret: newSecret(), Old: newSecret(), OldUntil: now.Add(time.Hour)}
	verified := func(header http.Header, secret string) bool {
		for one := range strings.FieldsSeq(header.Get(HeaderSignature)) {
			if one == Sign(secret, header.Get(HeaderID), header.Get(HeaderTimestamp), []byte("{}")) {
				return true
			}
		}
		return false
	}
	for _, c := range []struct {
		at       time.Time
		old, new bool
	}{{now, true, true}, {now.Add(time.Hour - time.Second), true, true}, {now.Add(time.Hour), false, true}} {
		header := h.signed("id", c.at, []byte("{}"))
		if verified(header, h.Old) != c.old || !verified(header, h.Secret) || verified(header, newSecret()) {
			t.Errorf("at %v: %v", c.at, header)
		}
	}
	if p := h.public(); p.Secret != "" || p.Old != "" {
		t.Errorf("%+v tells a secret", p)
	}
}
