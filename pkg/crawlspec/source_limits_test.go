package crawlspec

import (
	"strings"
	"testing"
	"time"
)

func TestLimitsOfSources(t *testing.T) {
	s := Default()
	s.Sources = []HostRule{
		{Hosts: []string{"slow.test"}, Timeout: new(Duration(5 * time.Minute)), MaxAttempts: new(1)},
		{Hosts: []string{"*.big.test"}, MaxBody: new(Bytes(1 << 30)), MaxRedirects: new(0)},
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	usual := Limits{DefaultMaxAttempts, DefaultMaxRedirects, DefaultMaxBody, DefaultTimeout}
	for host, want := range map[string]Limits{
		"other.test":   usual,
		"slow.test":    {1, DefaultMaxRedirects, DefaultMaxBody, Duration(5 * time.Minute)},
		"www.big.test": {DefaultMaxAttempts, 0, 1 << 30, DefaultTimeout},
	} {
		if got := s.HostLimits(host); got != want {
			t.Errorf("%s: %+v, want %+v", host, got, want)
		}
	}
	if got, want := s.Largest(), (Limits{DefaultMaxAttempts, DefaultMaxRedirects, 1 << 30, Duration(5 * time.Minute)}); got != want {
		t.Errorf("the largest are %+v, want %+v", got, want)
	}
	s.Sources[1].MaxBody = new(Bytes(0))
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "sources[1].max_body: 0B: must be from") {
		t.Error(err)
	}
}
