package language

import (
	"slices"
	"testing"
)

func TestCodeOf(t *testing.T) {
	for tag, want := range map[string]string{
		"en": "en", "EN": "en", "eng": "en", "en-US": "en", "ger": "de", "deu": "de", "pt-BR": "pt", "zh-Hans-CN": "zh", "cmn": "zh", "iw": "he", "nb": "no",
		"nn-NO": "no", "bs": "hr", "sr": "sr", "sr-Latn": "hr", "ms": "id", "ell": "el", "jpn": "ja", "xx": "", "tlh": "", "eo": "", "english": "", "": "",
	} {
		if got := CodeOf(tag); got != want {
			t.Errorf("%s is %q, want %q", tag, got, want)
		}
	}
	for _, code := range Codes() {
		if CodeOf(code) != code {
			t.Errorf("%s is %q", code, CodeOf(code))
		}
	}
	for _, sample := range samples {
		if sample.lang != "" && !slices.Contains(Codes(), sample.lang) {
			t.Errorf("%s is none of them", sample.lang)
		}
	}
}
