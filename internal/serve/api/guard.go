package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"seine/internal/base/jsontext"
	"seine/internal/run/specfile"
	"seine/internal/serve/caller"
	"seine/pkg/crawlspec"
)

// readSpec reads a spec in YAML or JSON from a client. It does not read files of the server.
func readSpec(text []byte) (*crawlspec.Spec, error) {
	spec, err := specfile.Load("spec", text)
	if err != nil {
		return nil, err
	}
	for i := range spec.Seeds {
		if spec.Seeds[i].File != "" {
			return nil, problemf(http.StatusUnprocessableEntity, "seeds[%d].file: the server reads no files for a spec: send the URLs by POST %s/crawls/{crawl}/seeds", i, Base)
		}
	}
	return spec, nil
}

// specText returns the text of a spec in a JSON document: a string of YAML, or an object.
func specText(given raw) []byte {
	var text string
	if jsontext.Unmarshal(given, &text) == nil {
		return []byte(text)
	}
	if string(given) == "null" {
		return nil
	}
	return given
}

// secretMark is part of every reference to a secret.
var secretMark = []byte("{secret:")

// checkRights rejects a spec that asks for more than its caller or the server may grant: reaching
// private addresses, or sending secrets to sites. It searches the whole encoded spec for secrets,
// so that it cannot miss a key.
func (a *API) checkRights(ctx context.Context, s *crawlspec.Spec) error {
	if c := caller.Of(ctx); bytes.Contains(s.Encode(), secretMark) && !c.May(caller.Secrets) {
		return problemf(http.StatusForbidden, "the spec names secrets, but %s lacks the scope secrets: omit {secret:…}, or use a token that has it", nameOf(&c))
	}
	if a.AllowPrivate {
		return nil
	}
	for _, k := range []struct {
		key string
		on  bool
	}{
		{"allow_private", s.AllowPrivate}, {"allow_addresses", len(s.AllowAddresses) > 0}, {"alerts.allow_private", s.Alerts.AllowPrivate},
	} {
		if k.on {
			return problemf(http.StatusForbidden, "%s: specs of the API may not reach private addresses: leave it out, or have the server started with --allow-private", k.key)
		}
	}
	return nil
}

// checkReach rejects seeds for a crawl that may reach private addresses, because they could be any
// URL of this network.
func (a *API) checkReach(s *crawlspec.Spec, crawl string) error {
	if a.AllowPrivate || !s.AllowPrivate && len(s.AllowAddresses) == 0 {
		return nil
	}
	return problemf(http.StatusForbidden, "crawl %s may reach private addresses, so the API adds no URLs to it: use seine seed, or start the server with --allow-private", crawl)
}

// shown returns a spec in the form for its reader.
func shown(ctx context.Context, s *crawlspec.Spec) *crawlspec.Spec {
	if c := caller.Of(ctx); c.May(caller.Write) {
		return s
	}
	return s.Shown()
}

// prettySpec returns a spec as indented JSON.
func prettySpec(ctx context.Context, s *crawlspec.Spec) raw {
	var out bytes.Buffer
	if err := json.Indent(&out, shown(ctx, s).Encode(), "", "  "); err != nil {
		panic(err) // valid: Encode made it
	}
	return raw(out.Bytes())
}
