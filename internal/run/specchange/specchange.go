// Package specchange compares specs: the changes that a new spec would make to a crawl, and the
// keys that it would reset by omitting them.
package specchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"seine/internal/base/jsontext"
	"seine/internal/run/specfile"
	"seine/pkg/crawlspec"
)

// Lines lists the differences of two specs by key: "- key: value" for old values, "+ key: value"
// for new ones.
func Lines(have, want *crawlspec.Spec) []string {
	return differences(flatten(have.Encode()), flatten(want.Encode()))
}

// mostShown bounds the values that Unmentioned includes, in bytes.
const mostShown = 60

// Unmentioned lists the keys that a crawl has set and the text of a new spec omits, with their
// values if those are short and not secret. Without this check, a short text would silently change
// the pace, the limits or the records of the crawl.
func Unmentioned(current *crawlspec.Revision, want *crawlspec.Spec, text []byte) (lost []string) {
	if current.Stalled {
		return nil // its spec replaces one that cannot be read
	}
	had, has, shown := values(current.Spec), values(want), values(current.Spec.Shown())
	for _, key := range slices.Sorted(maps.Keys(had)) {
		if key == "again" || bytes.Equal(had[key], has[key]) || specfile.Has(text, key) {
			continue // again counts the runs of seine crawl --again
		}
		if value := string(had[key]); len(value) <= mostShown && value == string(shown[key]) {
			key += ": " + value
		}
		lost = append(lost, key)
	}
	return lost
}

// values returns the set values of a spec by key.
func values(spec *crawlspec.Spec) (all map[string]json.RawMessage) {
	_ = jsontext.Unmarshal(spec.Encode(), &all) // valid: Encode made it
	return all
}

// differences lists the entries that differ, by key.
func differences(have, want map[string]string) (lines []string) {
	keys := maps.Clone(have)
	maps.Copy(keys, want)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		a, had := have[key]
		b, has := want[key]
		if had && has && a == b {
			continue
		}
		if had {
			lines = append(lines, "- "+key+": "+a)
		}
		if has {
			lines = append(lines, "+ "+key+": "+b)
		}
	}
	return lines
}

// flatten returns the values of a JSON document by their paths.
func flatten(text []byte) map[string]string {
	var doc any
	_ = jsontext.Unmarshal(text, &doc) // valid: Encode made it
	flat := make(map[string]string)
	flattenInto(flat, "", doc)
	return flat
}

func flattenInto(flat map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			below := key
			if path != "" {
				below = path + "." + key
			}
			flattenInto(flat, below, value)
		}
	case []any:
		for i, value := range v {
			flattenInto(flat, fmt.Sprintf("%s[%d]", path, i), value)
		}
	default:
		text, _ := json.Marshal(v)
		flat[path] = string(text)
	}
}
