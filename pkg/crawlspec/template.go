package crawlspec

import (
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/pkg/messages"
)

// Template is text with places to be filled in: "{name}" and "{name|default}"
// by the parameter of that name in the URL's query, "{secret:NAME}" by a secret
// that only the fetcher knows. All other braces stand for themselves, so JSON
// need not be escaped.
type Template string

// place matches a placeholder.
var place = lazyregexp.New(`\{(?:(secret):)?([A-Za-z_][A-Za-z0-9_.\-]*(?:\[\])?)(?:\|([^{}]*))?\}`)

// secretPattern matches a secret in a text.
var secretPattern = lazyregexp.New(`\{secret:([A-Za-z_][A-Za-z0-9_]*)\}`)

// Placeholder is one placeholder of a template.
type Placeholder struct {
	Secret     bool
	Name       string
	Default    string
	HasDefault bool
}

// Placeholders returns the placeholders of a template, in order.
func (t Template) Placeholders() []Placeholder {
	var all []Placeholder
	for _, m := range place().FindAllStringSubmatchIndex(string(t), -1) {
		all = append(all, t.at(m))
	}
	return all
}

// Secrets returns the names of the secrets in a template, in order.
func (t Template) Secrets() []string {
	var names []string
	for _, p := range t.Placeholders() {
		if p.Secret {
			names = append(names, p.Name)
		}
	}
	return names
}

func (t Template) at(m []int) Placeholder {
	p := Placeholder{Secret: m[2] >= 0, Name: string(t[m[4]:m[5]]), HasDefault: m[6] >= 0}
	if p.HasDefault {
		p.Default = string(t[m[6]:m[7]])
	}
	return p
}

// Fill returns the text with each placeholder replaced by the result of value. It stops at the
// first error.
func (t Template) Fill(value func(Placeholder) (string, error)) (string, error) {
	var b strings.Builder
	end := 0
	for _, m := range place().FindAllStringSubmatchIndex(string(t), -1) {
		v, err := value(t.at(m))
		if err != nil {
			return "", err
		}
		b.WriteString(string(t[end:m[0]]))
		b.WriteString(v)
		end = m[1]
	}
	b.WriteString(string(t[end:]))
	return b.String(), nil
}

// secretIn returns the first secret of a text, including its braces, "" if it has none.
func secretIn(s string) string { return secretPattern().FindString(s) }

var errSecretForAll = errors.New(`a secret may only be sent to hosts that are named: write it in one of the sources, ` +
	`or in a request rule that starts with "https://host/"`)

// checkSecrets returns an error for a secret that is not allowed, or is misspelt.
func checkSecrets(text string, allowed bool) error {
	for _, p := range Template(text).Placeholders() {
		switch {
		case p.Secret && !allowed:
			return errSecretForAll
		case p.Secret && (p.HasDefault || secretIn("{secret:"+p.Name+"}") == ""):
			return fmt.Errorf(`secret %q: its name has letters, digits and '_', and it has no default`, messages.Clip(p.Name))
		}
	}
	return nil
}
