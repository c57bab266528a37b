package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	stdhtml "html"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// JSONLD returns the values of the page's JSON-LD scripts, in order, each as compact JSON text with
// its members as written; [Objects] decodes them. Scripts are parsed leniently, see readJSON. A
// script whose text was escaped as if it were HTML, and so has no quotation marks at all, is
// unescaped first; offsets are then in the unescaped text.
//
// Unreadable parts are reported and omitted; values before them in the same script are kept.
func JSONLD(root *html.Node) ([]json.RawMessage, []Problem) {
	var values []json.RawMessage
	var problems []Problem
	scripts := 0
	for n := range dom.Elements(root) {
		if !isJSONLD(n) {
			continue
		}
		vs, p := readScript(n)
		if scripts == maxScripts || len(values)+len(vs) > maxJSONValues {
			return values, append(problems, Problem{Part: partJSONLD, Script: scripts, Text: "too much data: the rest is left out"})
		}
		values = append(values, vs...)
		if p != nil && len(problems) < maxProblems {
			p.Script = scripts
			problems = append(problems, *p)
		}
		scripts++
	}
	return values, problems
}

// isJSONLD reports whether n is a script with the media type of JSON-LD and any parameters.
func isJSONLD(n *html.Node) bool {
	if !dom.Is(n, atom.Script) {
		return false
	}
	typ, _ := dom.Find(n, "type")
	essence, _, _ := strings.Cut(typ, ";")
	return strings.EqualFold(strings.Trim(essence, whitespace), "application/ld+json")
}

func readScript(n *html.Node) ([]json.RawMessage, *Problem) {
	s := dom.RawText(n)
	if len(s) > maxScriptBytes {
		return nil, &Problem{Part: partJSONLD, Text: fmt.Sprintf("script of more than %d bytes", maxScriptBytes)}
	}
	if isEscaped(s) {
		s = stdhtml.UnescapeString(s)
	}
	values, err := readJSON(s)
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		return values, &Problem{Part: partJSONLD, Offset: syntax.offset, Text: syntax.text}
	}
	return values, nil
}

// isEscaped reports whether the first name of the script begins with an escaped quotation mark,
// where JSON cannot have an ampersand.
func isEscaped(s string) bool {
	s = strings.TrimLeft(s, whitespace+"[{")
	for _, quote := range []string{"&quot;", "&#34;", "&#034;", "&#x22;", "&#X22;"} {
		if strings.HasPrefix(s, quote) {
			return true
		}
	}
	return false
}

// Objects decodes JSON-LD values and returns the objects that describe things, in order: each value
// that is an object, those in arrays, and after an object those in its @graph. They are decoded as
// by encoding/json, with numbers as json.Number, which keeps them exact.
func Objects(jsonld []json.RawMessage) []any {
	var objects []any
	for _, raw := range jsonld {
		d := json.NewDecoder(bytes.NewReader(raw)) //nolint:forbidigo // not decoded into a struct
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err == nil {
			objects = appendObjects(objects, v)
		}
	}
	return objects
}

// appendObjects recurses to the depth of the value, which maxJSONDepth bounds.
func appendObjects(objects []any, v any) []any {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			objects = appendObjects(objects, e)
		}
	case map[string]any:
		objects = append(objects, v)
		if graph, ok := v["@graph"]; ok {
			objects = appendObjects(objects, graph)
		}
	}
	return objects
}
