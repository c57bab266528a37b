package fetcher

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"seine/internal/run/specfile"
	"seine/internal/testing/echoserver"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// specOption replaces the spec.
func specOption(t *testing.T, yaml string) option {
	t.Helper()
	spec, err := specfile.Load("spec.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { *s = *spec }
}

// withSpec returns a stage that ignores robots.txt, with a spec in YAML.
func withSpec(t *testing.T, yaml string, options ...option) *fetcherFixture {
	t.Helper()
	return newFetcherFixture(t, append(options, specOption(t, "robots: ignore\nallow_private: true\ndelay: 0s\n"+yaml))...)
}

// A secret is sent only to the host that it is for, and is in no message and no archive.
func TestSecretsAreInNoMessage(t *testing.T) {
	t.Setenv("SEINE_SECRET_TOKEN", "s3cret")
	e := echoserver.New(t)
	s := withSpec(t, "archive: true\ncookies: true\nsources:\n- hosts: ['"+e.URL+"']\n  headers: {X-Key: '{secret:TOKEN}', Cookie: id=s3cret}\n"+
		"  auth: {user: me, password: '{secret:TOKEN}'}\nrequests:\n- match: '"+e.URL+"/*'\n  method: POST\n"+
		"  headers: {X-Rule: '{secret:TOKEN}'}\n  query: {key: '{secret:TOKEN}'}\n  body: 'k={secret:TOKEN}'")
	h := s.get(e.URL + "/")
	h.wants(t, messages.OK)
	if got := e.Last(t); !strings.Contains(got.Text+got.RequestURI+got.Header.Get("X-Rule"), "s3cret") {
		t.Fatal("the secrets were not sent")
	}
	for _, m := range h.out.Messages() {
		for _, leak := range []string{"s3cret", "bWU6czNjcmV0"} {
			if bytes.Contains(m.Data, []byte(leak)) || strings.Contains(fmt.Sprint(m.Header), leak) {
				t.Errorf("%s holds %q:\n%s", m.Subject, leak, m.Data)
			}
		}
	}
}

func TestCancelledCrawlSendsNothing(t *testing.T) {
	e := echoserver.New(t)
	s := withSpec(t, "state: cancelled")
	s.get(e.URL+"/").wants(t, messages.ClassCancelled)
	if len(e.Seen()) > 0 {
		t.Error("a request was sent")
	}
}
