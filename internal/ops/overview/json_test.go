package overview

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The keys of `seine status --json` are in lower case.
func TestKeysAreInLowerCase(t *testing.T) {
	eachKey(reflect.TypeFor[Overview](), map[reflect.Type]bool{}, func(of reflect.Type, key string) {
		if key != strings.ToLower(key) {
			t.Errorf("%s has the key %q", of, key)
		}
	})
}

// eachKey calls do for the JSON keys of a type and of its parts.
func eachKey(in reflect.Type, seen map[reflect.Type]bool, do func(of reflect.Type, key string)) {
	if slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, in.Kind()) {
		eachKey(in.Elem(), seen, do)
	}
	if in.Kind() != reflect.Struct || seen[in] || in == reflect.TypeFor[time.Time]() || in.Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	seen[in] = true
	for f := range in.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		if key == "" && !f.Anonymous {
			key = f.Name
		}
		do(in, key)
		eachKey(f.Type, seen, do)
	}
}
