package specchange

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"seine/internal/run/specfile"
	"seine/pkg/crawlspec"
)

// A key is removed only if the new spec says so.
func TestUnmentioned(t *testing.T) {
	t.Parallel()
	const records = "records: [{match: '*/p/*', kind: product, fields: {name: h1, price: {css: .price, as: number}}}]"
	for name, c := range map[string]struct{ have, want, lost string }{
		"nothing set":      {"", "delay: 2s", ""},
		"seeds":            {"seeds: [http://a.test/]", "delay: 2s", `seeds: ["http://a.test/"]`},
		"max_pages":        {"max_pages: 300", "delay: 2s", "max_pages: 300"},
		"ended":            {"max_pages: 300", "max_pages: 0", ""},
		"changed":          {"max_pages: 300", "max_pages: 400", ""},
		"max_depth 0":      {"max_depth: 0", "delay: 2s", "max_depth: 0"},
		"max_depth null":   {"max_depth: 0", "max_depth: null", ""},
		"patterns":         {"include: ['*/a*']\nexclude: ['*/b*']", "delay: 2s", `exclude: ["*/b*"], include: ["*/a*"]`},
		"no patterns":      {"include: ['*/a*']", "include: []", ""},
		"sizes":            {"max_bytes: 1GiB\nmax_duration: 1h", "delay: 2s", `max_bytes: "1GiB", max_duration: "1h0m0s"`},
		"ended sizes":      {"max_bytes: 1GiB\nmax_duration: 1h", "max_bytes: 0\nmax_duration: 0s", ""},
		"flags":            {"allow_private: true\narchive: true", "delay: 2s", "allow_private: true, archive: true"},
		"pace":             {"delay: 100ms\nscope: domain", "records: []", `delay: "100ms", scope: "domain"`},
		"pace kept":        {"delay: 100ms", "delay: 100ms", ""},
		"pace changed":     {"delay: 100ms", "delay: 5s", ""},
		"the default":      {"delay: 1s\nscope: host\nrobots: obey", "max_pages: 3", ""},
		"a paused crawl":   {"state: paused", "delay: 2s", `state: "paused"`},
		"records":          {records, "delay: 2s", "records"},
		"records, by null": {records, "records: null", ""},
		"part of a map":    {"page: {emit: always, fields: [url]}", "page: {emit: always}", ""},
		"secrets":          {"headers: {X-Key: abc}", "delay: 2s", "headers"},
		"a new run":        {"again: 1795988621", "delay: 2s", ""},
	} {
		have, err := specfile.Load("have.yaml", []byte(c.have))
		if err != nil {
			t.Fatal(err)
		}
		want, err := specfile.Load("want.yaml", []byte(c.want))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Join(Unmentioned(&crawlspec.Revision{Spec: have}, want, []byte(c.want)), ", "); got != c.lost {
			t.Errorf("%s: %s, want %s", name, got, c.lost)
		}
		if got := Unmentioned(&crawlspec.Revision{Spec: have, Stalled: true}, want, []byte(c.want)); len(got) > 0 {
			t.Errorf("%s: a spec that cannot be used is guarded: %v", name, got)
		}
	}
}

// A null removes each key of a spec, as the refusal says.
func TestNullRemovesAKey(t *testing.T) {
	t.Parallel()
	byDefault := crawlspec.Default()
	var keys func(of reflect.Type)
	keys = func(of reflect.Type) {
		for f := range of.Fields() {
			if f.Anonymous {
				keys(f.Type)
				continue
			}
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if spec, err := specfile.Load("null.yaml", []byte(key+": null\n")); err != nil || !bytes.Equal(spec.Encode(), byDefault.Encode()) {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	keys(reflect.TypeFor[crawlspec.Spec]())
}
