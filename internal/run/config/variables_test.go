package config

import (
	"errors"
	"slices"
	"testing"
)

func TestMisspeltVariablesAreNamed(t *testing.T) {
	got := UnknownVariables([]string{
		"SEINE_WORKRES=4", "SEINE_NATS_URLS=", "SEINE_out=x", "SEINE_ZZZZZZZZ=1",
		"SEINE_WORKERS=4", "SEINE_OUT=", "SEINE_SECRET_TOKEN=x", "SEINE_TAG=v1", "SEINE_NATS_SERVICE_HOST=10.0.0.1",
		"SEINE_NATS_PORT=tcp://10.0.0.1:4222", "SEINE_NATS_PORT_4222_TCP_ADDR=10.0.0.1", "PATH=/bin", "SEINEWORKERS=1",
	})
	want := []string{
		"no command knows the environment variable SEINE_NATS_URLS: did you mean SEINE_NATS_URL?",
		"no command knows the environment variable SEINE_WORKRES: did you mean SEINE_WORKERS?",
		"no command knows the environment variable SEINE_ZZZZZZZZ: see --help for those there are",
		"no command knows the environment variable SEINE_out: did you mean SEINE_OUT?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The message for a negative value after a flag does not mistake it for a flag.
func TestNegativeValueIsExplained(t *testing.T) {
	const want = "--delay -1s: a value that begins with - is written with an equals sign: --delay=-1s"
	if _, err := parse(t, "", "--delay", "-1s"); err == nil || reword(err).Error() != want {
		t.Errorf("it says %v, want %s", reword(err), want)
	}
}

// The empty value of an optional choice is not listed as a choice.
func TestChoicesAreNamed(t *testing.T) {
	err := errors.New(`--stage must be one of "","frontier","parser" but got "nope"`)
	const want = `--stage must be one of "frontier","parser" but got "nope"`
	if got := reword(err); got.Error() != want {
		t.Errorf("it says %v, want %s", got, want)
	}
}
