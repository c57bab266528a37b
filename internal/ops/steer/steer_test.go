package steer

import "testing"

// An order for a host applies to all of its ports, so the message does not repeat a given port.
func TestWhere(t *testing.T) {
	for given, want := range map[string]string{
		"a.test": "a.test", "a.test:8080": "a.test on all ports", "http://a.test/": "a.test on all ports", "a test": "a test",
	} {
		if got := Where(given); got != want {
			t.Errorf("%s is named %q, want %q", given, got, want)
		}
	}
}
