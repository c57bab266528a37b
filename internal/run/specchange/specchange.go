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

// Lost is a key that a crawl has and the text of a new spec does not mention.
type Lost struct {
	Key   string
	Flag  string // of seine crawl, that sets it
	Value string // that the crawl has, in JSON
	None  string // the value that takes it away
}

// kept are the keys that a spec takes away only by naming them.
var kept = []Lost{
	{Key: "archive", Flag: "--warc", None: "false"}, {Key: "allow_private", Flag: "--allow-private", None: "false"},
	{Key: "include", Flag: "--include", None: "[]"}, {Key: "exclude", Flag: "--exclude", None: "[]"}, {Key: "max_depth", Flag: "--max-depth", None: "null"},
	{Key: "max_pages", Flag: "--max-pages", None: "0"}, {Key: "max_bytes", Flag: "--max-bytes", None: "0"}, {Key: "max_duration", Flag: "--max-duration", None: "0s"},
}

// Unmentioned lists the keys that a text takes from a crawl by saying nothing of them, which a flag of seine
// crawl has given to it: its pages would be archived without their heads, its hosts be left out, its limits be lifted.
func Unmentioned(have, want *crawlspec.Spec, text []byte) (lost []Lost) {
	had, has := values(have), values(want)
	for _, k := range kept {
		if k.Value = string(had[k.Key]); k.Value != "" && has[k.Key] == nil && !specfile.Has(text, k.Key) {
			lost = append(lost, k)
		}
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
