package crawlspec_test

import (
	"slices"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

func TestChunks(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{"chunks": {}}`, ""},
		{`{"chunks": {"size": 20, "overlap": 10, "unit": "words", "match": "/docs/*", "fields": {"author": {"from": "page:author"}}}}`, ""},
		{`{"chunks": {"size": 19}}`, "chunks.size: 19: must be from 20 to 100000"},
		{`{"chunks": {"size": -1}}`, "chunks.size: -1: must be from 20 to 100000"},
		{`{"chunks": {"size": 100001}}`, "chunks.size: 100001: must be from 20 to 100000"},
		{`{"chunks": {"overlap": -1}}`, "chunks.overlap: -1: must be from 0 to half of the size, 250"},
		{`{"chunks": {"size": 100, "overlap": 51}}`, "chunks.overlap: 51: must be from 0 to half of the size, 50"},
		{`{"chunks": {"unit": "bytes"}}`, `chunks.unit: "bytes": must be one of characters, words, tokens`},
		{`{"chunks": {"fields": {"text": "p"}}}`, `chunks.fields.text: is there twice`},
		{`{"chunks": {"fields": {"url": "p"}}}`, `chunks.fields.url: every record has "url" already: choose another name`},
		{`{"chunks": {}, "records": [{"kind": "chunk", "fields": {"a": "p"}}]}`, `records[0].kind: "chunk": is the kind of the records of chunks: choose another name`},
		{`{"chunks": {"match": "re:("}}`, "chunks.match"},
	} {
		spec, err := crawlspec.Decode([]byte(c.json))
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got error %v, want %q", c.json, err, c.want)
		case c.want == "" && (!slices.Equal(spec.Kinds(), []string{crawlspec.KindChunk}) || len(spec.KindsWithoutKey()) > 0 || spec.EmitsPage()):
			t.Errorf("%s: kinds are %q, without key %q", c.json, spec.Kinds(), spec.KindsWithoutKey())
		}
	}
}
