package extract

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"time"

	"seine/internal/base/jsontext"
	"seine/pkg/crawlspec"
)

// member is one field of a record or an object.
type member struct {
	name  string
	value any
}

// members are the fields of an object, in the order of the spec.
type members []member

func (m members) get(name string) (any, bool) {
	for i := range m {
		if m[i].name == name {
			return m[i].value, true
		}
	}
	return nil, false
}

// Record is a record that a rule made.
type Record struct {
	Kind  string
	Rule  string // such as "records[0]"
	Index int    // of the source item on the page, from 0
	Key   string // "" if the rule sets none

	fields members
	// ownMetadata is set if the rule has a field named metadata, which replaces the seed's.
	ownMetadata bool
}

// Envelope has the members that every record has besides its fields.
type Envelope struct {
	URL       string
	FetchedAt time.Time
	Crawl     string
	Visit     string
	Run       int64 // when the run was due, in Unix seconds; the first is 0, or when an earlier crawl of this name was deleted
	// DuplicateOf is the visit of the page that this one repeats, "" if unknown.
	DuplicateOf string
	// Metadata is the metadata of the page's seed, as a JSON object; nil if it has none.
	Metadata []byte
}

// Object begins a record of a kind with the members of the envelope.
func (env *Envelope) Object(b []byte, kind, key string) jsontext.Object {
	o := jsontext.Object{B: b}
	o.Text("kind", kind)
	o.Text("url", env.URL)
	o.Time("fetched_at", env.FetchedAt)
	o.Text("crawl", env.Crawl)
	o.Text("visit", env.Visit)
	o.Int("run", env.Run)
	o.TextSet("duplicate_of", env.DuplicateOf)
	o.TextSet("key", key)
	if len(env.Metadata) > 0 {
		o.Raw(crawlspec.FieldMetadata, env.Metadata)
	}
	return o
}

// AppendJSON appends the record as one flat JSON object on one line: kind, url, fetched_at, crawl,
// visit, key and metadata if set, then its fields in their order. A record that Apply returned has
// at most MaxRecord bytes in this form, besides the metadata.
func (rec *Record) AppendJSON(b []byte, env Envelope) []byte {
	if rec.ownMetadata {
		env.Metadata = nil
	}
	o := env.Object(b, rec.Kind, rec.Key)
	for _, m := range rec.fields {
		o.Key(m.name)
		o.B = appendValue(o.B, m.value)
	}
	return o.End()
}

// Fields appends the fields of the record, without its envelope, as one JSON object.
func (rec *Record) Fields(b []byte) []byte { return appendValue(b, rec.fields) }

// MapTexts replaces each text in the record by the result of change. It includes names of members
// within fields, since those of a map are texts of the page. field is the record's field that
// contains the text, or "key" for the key.
func (rec *Record) MapTexts(change func(field, text string) string) {
	if rec.Key != "" {
		rec.Key = change("key", rec.Key)
	}
	for i := range rec.fields {
		m := &rec.fields[i]
		m.value = mapTexts(m.value, func(s string) string { return change(m.name, s) })
	}
}

// mapTexts copies lists and objects, since they may still belong to a JSON document.
func mapTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapTexts(v[i], change)
		}
		return out
	case map[string]any:
		out, names := make(map[string]any, len(v)), jsontext.Names{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[names.Unique(k, change(k))] = mapTexts(v[k], change)
		}
		return out
	case members:
		out, names := make(members, len(v)), jsontext.Names{}
		for i := range v {
			out[i] = member{names.Unique(v[i].name, change(v[i].name)), mapTexts(v[i].value, change)}
		}
		return out
	}
	return v
}

// appendValue appends a value as JSON: members of rules' objects in their order, those of documents
// sorted by name.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return jsontext.AppendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return appendFloat(b, v)
	case json.Number:
		return append(b, v...)
	case *big.Int:
		return v.Append(b, 10)
	case members:
		o := jsontext.Object{B: b}
		for _, m := range v {
			o.Key(m.name)
			o.B = appendValue(o.B, m.value)
		}
		return o.End()
	case map[string]any:
		o := jsontext.Object{B: b}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			o.Key(k)
			o.B = appendValue(o.B, v[k])
		}
		return o.End()
	case []any:
		return jsontext.AppendList(b, v, appendValue)
	}
	return append(b, "null"...)
}

// takeSize subtracts from left the minimum size of a value as JSON, in bytes, and stops when left
// is negative.
func takeSize(v any, left *int) {
	*left--
	switch v := v.(type) {
	case string:
		*left -= len(v)
	case json.Number:
		*left -= len(v)
	case []any:
		for i := 0; i < len(v) && *left >= 0; i++ {
			takeSize(v[i], left)
		}
	case members:
		for i := 0; i < len(v) && *left >= 0; i++ {
			takeSize(v[i].value, left)
		}
	case map[string]any:
		for name, e := range v {
			if *left -= len(name); *left < 0 {
				break
			}
			takeSize(e, left)
		}
	}
}

// appendFloat appends a number as encoding/json does, or null if JSON cannot represent it.
func appendFloat(b []byte, f float64) []byte {
	text, err := json.Marshal(f)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}
