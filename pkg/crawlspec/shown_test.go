package crawlspec

import "testing"

// A reader sees no credentials of a spec, wherever a header is set, and the spec itself keeps them.
func TestShownHasNoPlainCredentials(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Cookie", "cookie", "Authorization", "Proxy-Authorization"} {
		for value, want := range map[string]string{"plain": "hidden", "plain {secret:S}": "hidden", "{secret:S}": "{secret:S}", "Bearer {secret:S}": "Bearer {secret:S}"} {
			headers := func() map[string]string { return map[string]string{name: value, "Accept": "text/html"} }
			s := &Spec{Access: Access{Headers: headers()}, Sources: []HostRule{{Access: Access{Headers: headers()}}}, Requests: []RequestRule{{Headers: headers()}}}
			of := func(s *Spec) []map[string]string {
				return []map[string]string{s.Headers, s.Sources[0].Headers, s.Requests[0].Headers}
			}
			for i, shown := range of(s.Shown()) {
				if shown[name] != want || shown["Accept"] != "text/html" {
					t.Errorf("place %d, %s: %s: got %v, want %q", i, name, value, shown, want)
				}
			}
			for i, kept := range of(s) {
				if kept[name] != value {
					t.Errorf("place %d: the spec was changed: %v", i, kept)
				}
			}
		}
	}
}
