package weburl

import "testing"

func TestEscapeInvalid(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "/café?x=y#z": "/café?x=y#z", "/caf\xe9": "/caf%E9", "\xff/é\x80": "%FF/é%80", "/\xe2\x82": "/%E2%82", "/\ufffd": "/\ufffd",
	} {
		if got := EscapeInvalid(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
