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

// readSpec reads a spec that a client sent, YAML or JSON. Files of the server are not read.
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

// specText is the text of a spec in a JSON document: a string of YAML, or an object.
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

// secretMark is in a text wherever a secret is named.
var secretMark = []byte("{secret:")

// checkRights reports what a spec asks for that its caller, or the server, may not give: to reach private
// addresses, and to have secrets sent to where the spec says. That is looked for in all of the spec, so that
// no key is forgotten.
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

// checkReach refuses to feed a crawl that may reach private addresses: its URLs would be any of this network.
func (a *API) checkReach(s *crawlspec.Spec, crawl string) error {
	if a.AllowPrivate || !s.AllowPrivate && len(s.AllowAddresses) == 0 {
		return nil
	}
	return problemf(http.StatusForbidden, "crawl %s may reach private addresses, so the API adds no URLs to it: use seine seed, or start the server with --allow-private", crawl)
}

// shown is a spec as its reader may see it.
func shown(ctx context.Context, s *crawlspec.Spec) *crawlspec.Spec {
	if c := caller.Of(ctx); c.May(caller.Write) {
		return s
	}
	return s.Shown()
}

// prettySpec is a spec as people read it.
func prettySpec(ctx context.Context, s *crawlspec.Spec) raw {
	var out bytes.Buffer
	if err := json.Indent(&out, shown(ctx, s).Encode(), "", "  "); err != nil {
		panic(err) // Encode made it
	}
	return raw(out.Bytes())
}
