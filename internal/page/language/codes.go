package language

import (
	"slices"
	"sync"

	"golang.org/x/text/language"
)

// Codes returns the codes that Detect may return, sorted.
var Codes = sync.OnceValue(func() []string {
	codes := []string{"ja", "zh"}
	for _, l := range lists {
		codes = append(codes, l.tag)
	}
	for _, b := range blocks {
		if isAlone(b.script) {
			codes = append(codes, b.script)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
})

// takenFor maps languages that Detect does not distinguish to its result for them.
var takenFor = map[string]string{"nb": "no", "nn": "no", "bs": "hr", "ms": "id", "cmn": "zh"}

// CodeOf returns the result of Detect for a text in the language of a tag, which may be a BCP 47
// tag or an ISO 639-2 code: "en" for "en-US" and "eng". It returns "" for an unknown language.
func CodeOf(tag string) string {
	t, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	base, _ := t.Base()
	code := base.String()
	if script, _ := t.Script(); code == "sr" && script.String() == "Latn" {
		code = "hr"
	}
	if other := takenFor[code]; other != "" {
		code = other
	}
	if !slices.Contains(Codes(), code) {
		return ""
	}
	return code
}
