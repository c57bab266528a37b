package crawlspec

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
)

// Hidden stands for values that Shown hides. A spec with it is invalid: storing it would lose the
// values.
const Hidden = "***hidden***"

// Shown returns the spec for readers who may not change it. Hidden replaces everything that may be
// a credential: values of request headers other than harmless ones, of query parameters and bodies
// of request rules, scripts and texts for the browser, user information of URLs, and the path and
// query of the URL for alerts. Names of secrets stay.
func (s *Spec) Shown() *Spec {
	text, err := json.Marshal(eachText("", tree(s), shownText))
	shown := new(Spec)
	if err == nil {
		err = jsontext.Unmarshal(text, shown)
	}
	if err != nil {
		panic(err) // Encode made it
	}
	return shown
}

// checkHidden reports the values that were hidden from the sender of the spec.
func (c specCheck) checkHidden(p *Problems) {
	if !bytes.Contains(c.Encode(), []byte(Hidden)) {
		return
	}
	eachText("", tree(c.Spec), func(field, text string) string {
		if strings.Contains(text, Hidden) {
			p.Addf(field, "the value was hidden from a reader without the scope write: write the value itself, or the name of a secret as in {secret:NAME}")
		}
		return text
	})
}

// tree returns the spec as JSON values.
func tree(s *Spec) (tree any) {
	d := json.NewDecoder(bytes.NewReader(s.Encode())) //nolint:forbidigo // reads no struct
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		panic(err) // Encode made it
	}
	return tree
}

// eachText replaces each text in v by the result of do for its field, such as
// "sources[0].headers.Cookie", and the text, in the order of names. It returns v.
func eachText(field string, v any, do func(field, text string) string) any {
	switch v := v.(type) {
	case string:
		return do(field, v)
	case []any:
		for i := range v {
			v[i] = eachText(field+"["+strconv.Itoa(i)+"]", v[i], do)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = eachText(strings.TrimPrefix(field+"."+name, "."), v[name], do)
		}
	}
	return v
}

var (
	headerField     = lazyregexp.New(`^(?:(?:sources|requests)\[\d+\]\.)?headers\.(.+)$`)
	credentialField = lazyregexp.New(`^requests\[\d+\]\.(?:query\.|body$)|^render\.(?:init_script$|login\.script$|actions\[\d+\]\.(?:script|text)$)`)
	// placeOnly matches values without plain text, except for a scheme.
	placeOnly = lazyregexp.New(`^(?:(?:Basic|Bearer) )?\{(?:secret:)?[\w.-]+\}$`)
	userInfo  = lazyregexp.New(`://[^/?#\s]*@`)
)

// harmlessHeaders are the headers whose values are not hidden.
var harmlessHeaders = strings.Fields(`accept accept-charset accept-language cache-control content-type dnt origin pragma priority range
	referer save-data sec-gpc upgrade-insecure-requests user-agent x-requested-with`)

// shownText returns the text of a field of a spec as shown to readers.
func shownText(field, text string) string {
	header := headerField().FindStringSubmatch(field)
	switch {
	case field == "alerts.webhook":
		origin := strings.TrimSuffix(WebhookOrigin(text), "/…")
		if strings.TrimSuffix(text, "/") != strings.TrimSuffix(origin, "/") {
			text = strings.TrimSuffix(origin, "/") + "/" + Hidden
		}
		return text
	case placeOnly().MatchString(text):
		return text
	case header != nil && !slices.Contains(harmlessHeaders, strings.ToLower(header[1])), credentialField().MatchString(field):
		return Hidden
	}
	return userInfo().ReplaceAllLiteralString(text, "://"+Hidden+"@")
}
