// Package specchange finds what a new spec would change of a crawl, and what it would remove by saying
// nothing of it.
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

// Lines lists what one spec has and the other has not, by key: "- key: value" of what there was, "+ key: value"
// of what comes.
func Lines(have, want *crawlspec.Spec) []string {
	return differences(flatten(have.Encode()), flatten(want.Encode()))
}

// mostShown bounds the values that Unmentioned shows, in bytes.
const mostShown = 60

// Unmentioned lists the keys that a crawl has set and the text of a new spec omits, with their values if those are short and not secret.
// Without this check, a short text would silently change the pace, the limits or the records of the crawl.
func Unmentioned(current *crawlspec.Revision, want *crawlspec.Spec, text []byte) (lost []string) {
	if current.Stalled {
		return nil // its spec only stands for one that cannot be read
	}
	had, has, shown := values(current.Spec), values(want), values(current.Spec.Shown())
	for _, key := range slices.Sorted(maps.Keys(had)) {
		if key == "again" || bytes.Equal(had[key], has[key]) || specfile.Has(text, key) {
			continue // again counts the runs that seine crawl --again began
		}
		if value := string(had[key]); len(value) <= mostShown && value == string(shown[key]) {
			key += ": " + value
		}
		lost = append(lost, key)
	}
	return lost
}

// values are those of a spec by key, without what is left out.
func values(spec *crawlspec.Spec) (all map[string]json.RawMessage) {
	_ = jsontext.Unmarshal(spec.Encode(), &all) // Encode made it
	return all
}

// differences lists what one has and the other has not, by key.
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

// flatten returns the values of a JSON document by the paths that lead to them.
func flatten(text []byte) map[string]string {
	var doc any
	_ = jsontext.Unmarshal(text, &doc) // Encode made it
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
