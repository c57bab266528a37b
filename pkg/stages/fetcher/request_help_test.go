package fetcher

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"seine/internal/base/weburl"
	"seine/internal/run/specfile"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

func canonical(t *testing.T, text string) string {
	t.Helper()
	c, err := weburl.Canonicalize(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func port(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u.Port()
}

func sortedKeys(h http.Header) []string { return slices.Sorted(maps.Keys(h)) }

// version is that in the default user agent.
func version() string {
	v, _, _ := strings.Cut(strings.TrimPrefix(crawlspec.DefaultUserAgent, "seine/"), " ")
	return v
}

// specOption replaces the spec.
func specOption(t *testing.T, yaml string) option {
	t.Helper()
	spec, err := specfile.Load("spec.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { *s = *spec }
}

// quotePEM returns a certificate as a YAML string.
func quotePEM(c *x509.Certificate) string {
	text, err := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})))
	if err != nil {
		panic(err)
	}
	return string(text)
}
