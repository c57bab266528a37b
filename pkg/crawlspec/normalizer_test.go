package crawlspec_test

import (
	"testing"

	"seine/internal/run/specfile"
)

// The parameters that a request rule fills with a secret are removed from all URLs of a crawl,
// whoever wrote them. The URL is the one to which the rule adds them.
func TestSecretParametersAreInNoURL(t *testing.T) {
	t.Parallel()
	spec, err := specfile.Load("spec.yaml", []byte(`
requests:
- match: "https://a.example/free/*"
- match: "https://a.example/find?*"
  query: {key: "{secret:K}"}
- match: "https://a.example/read*"
  query: {id: "{id}-{secret:K}"}
- match: "https://a.example/*"
  query: {"the key": "k {secret:K}", lang: de}
- match: "*"
  query: {all: "1"}
`))
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{
		"https://a.example/x?the%20key=1":                 "https://a.example/x",
		"https://a.example/x?a=1&the+key=1&b=2&the%20key": "https://a.example/x?a=1&b=2",
		"https://a.example/x?key=1&lang=en&The+key=2":     "https://a.example/x?key=1&lang=en&The+key=2",
		"https://a.example/free/?key=1&the+key=1":         "https://a.example/free/?key=1&the+key=1",
		"https://a.example/find?q=1&key=2":                "https://a.example/find?q=1",
		"https://a.example/find?key=2":                    "https://a.example/find?key=",
		"https://a.example/read?id=7":                     "https://a.example/read?id=7",
		"https://b.example/x?the+key=1&all=2":             "https://b.example/x?the+key=1&all=2",
		"https://a.example/x":                             "https://a.example/x",
	} {
		n := spec.Normalizer()
		if got := n.Normalize(from); got != want || n.Normalize(got) != want {
			t.Errorf("%s becomes %s, then %s, want %s", from, got, n.Normalize(got), want)
		}
		if got := spec.SecretNormalizer().Normalize(from); got != want {
			t.Errorf("%s becomes %s by the secrets alone, want %s", from, got, want)
		}
	}
	plain := *spec
	plain.Requests = spec.Requests[:1]
	if plain.SecretNormalizer() != nil || spec.NormalizeOptions().Fingerprint() == plain.NormalizeOptions().Fingerprint() {
		t.Error("what is stored would not be normalised again when the rules change")
	}
}
