// Package specchange finds what a new spec would change of a crawl, and what it would remove by saying
// nothing of it.
package specchange

import (
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

// Lost is a key that a crawl has as true and the text of a new spec does not mention.
type Lost struct {
	Key  string
	Flag string // of seine crawl, that sets it
}

// Unmentioned lists the keys that a text takes from a crawl by saying nothing of them, which a flag of seine
// crawl has given to it and it cannot do without: its pages would be archived without their heads, its hosts be
// left out.
func Unmentioned(have, want *crawlspec.Spec, text []byte) (lost []Lost) {
	for _, k := range []struct {
		Lost
		had, has bool
	}{
		{Lost{"archive", "--warc"}, have.Archive, want.Archive},
		{Lost{"allow_private", "--allow-private"}, have.AllowPrivate, want.AllowPrivate},
	} {
		if k.had && !k.has && !specfile.Has(text, k.Key) {
			lost = append(lost, k.Lost)
		}
	}
	return lost
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
