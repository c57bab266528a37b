package crawlspec

import (
	"bytes"
	"strings"
	"testing"
)

// credential is set in each place of a spec that can hold one.
const credential = "s3cret-1"

// credentials are functions that set a credential, by the field that gets it.
var credentials = map[string]func(*Spec){
	"headers.X-Api-Key":         func(s *Spec) { s.Headers = map[string]string{"X-Api-Key": credential} },
	"headers.cookie":            func(s *Spec) { s.Headers = map[string]string{"cookie": "a=" + credential} },
	"headers.token":             func(s *Spec) { s.Headers = map[string]string{"token": "{secret:S}" + credential} },
	"headers.X-Auth.Token":      func(s *Spec) { s.Headers = map[string]string{"X-Auth.Token": credential} },
	"sources[0].headers.Cookie": func(s *Spec) { s.Sources = source(Access{Headers: map[string]string{"Cookie": credential}}) },
	"requests[0].headers.Authentication": func(s *Spec) {
		s.Requests = []RequestRule{{Match: "*", Headers: map[string]string{"Authentication": "Bearer " + credential}}}
	},
	"requests[0].query.key": func(s *Spec) { s.Requests = []RequestRule{{Match: "*", Query: map[string]Template{"key": credential}}} },
	"requests[0].body": func(s *Spec) {
		s.Requests = []RequestRule{{Match: "*", Method: "POST", Body: `{"key": "` + credential + `"}`}}
	},
	"proxies[1]": func(s *Spec) { s.Proxies = []string{"http://a.example:1", "http://" + credential + "@a.example:1"} },
	"sources[0].proxies[0]": func(s *Spec) {
		s.Sources = source(Access{Proxies: []string{"socks5://" + credential + ":{secret:S}@a.example:1"}})
	},
	"seeds[0].url": func(s *Spec) { s.Seeds = []Seed{{URL: "https://a:" + credential + "@a.example/", Inherit: true}} },
	"contact":      func(s *Spec) { s.Contact = "https://" + credential + "@a.example/" },
	"requests[0].match": func(s *Spec) {
		s.Requests = []RequestRule{{Match: "https://a:" + credential + "@a.example/*", Method: "GET"}}
	},
	"alerts.webhook":     func(s *Spec) { s.Alerts.Webhook = "https://a.example/" + credential },
	"render.init_script": func(s *Spec) { s.Render = &Render{InitScript: "f('" + credential + "')"} },
	"render.actions[1].script": func(s *Spec) {
		s.Render = &Render{Actions: []RenderAction{{Scroll: 1}, {Script: "f('" + credential + "')"}}}
	},
	"render.actions[0].text": func(s *Spec) { s.Render = &Render{Actions: []RenderAction{{Type: "#q", Text: credential}}} },
	"render.login.script": func(s *Spec) {
		s.Render = &Render{Login: &RenderLogin{URL: "https://a.example/", Script: "f('" + credential + "')"}}
	},
	"headers.Proxy-Credentials": func(s *Spec) { s.Headers = map[string]string{"Proxy-Credentials": credential, "Accept": "text/html"} },
}

func source(a Access) []HostRule {
	return []HostRule{{Access: a}}
}

// Shown hides all credentials of a spec, and leaves the spec itself unchanged. Its result cannot be
// stored.
func TestShownHasNoCredentials(t *testing.T) {
	t.Parallel()
	for field, set := range credentials {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			s := Default()
			set(&s)
			before := s.Encode()
			shown := s.Shown()
			if text := string(shown.Encode()); strings.Contains(text, credential) || !strings.Contains(text, Hidden) {
				t.Errorf("a reader sees %s", text)
			}
			if !bytes.Equal(s.Encode(), before) {
				t.Errorf("the spec was changed to %s", s.Encode())
			}
			if err := s.Validate(); err != nil && strings.Contains(err.Error(), "was hidden") {
				t.Errorf("the spec itself: %v", err)
			}
			if err := shown.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+": the value was hidden") {
				t.Errorf("what a reader sees can be stored: %v", err)
			}
		})
	}
}

// Shown leaves all other values as they are.
func TestShownHasTheRest(t *testing.T) {
	t.Parallel()
	s := Default()
	s.Again = 1<<62 + 1
	s.Headers = map[string]string{"Accept": "text/html", "accept-language": "de", "X-Key": "{secret:S}", "Referer": "https://a.example/x@y?z=1"}
	s.Sources = source(Access{Headers: map[string]string{"Authorization": "Bearer {secret:S}"}, Proxies: []string{"http://a.example:1"}})
	s.Requests = []RequestRule{{Match: "*", Query: map[string]Template{"key": "{secret:S}", "q": "{q}"}, Method: "POST", Body: "{q}"}}
	s.Seeds, s.Contact = []Seed{{URL: "https://a.example/?mail=a@b.example"}}, "ann@a.example"
	s.Include = []string{"re:^https://a.example/(@|x)"}
	for _, webhook := range []string{"", "https://a.example", "https://a.example/"} {
		s.Alerts.Webhook = webhook
		if got, want := string(s.Shown().Encode()), string(s.Encode()); got != want {
			t.Errorf("a reader sees\n%s, want\n%s", got, want)
		}
	}
	s.Alerts = Alerts{}
	if got, want := string(s.Shown().Encode()), string(s.Encode()); got != want {
		t.Errorf("a reader sees\n%s, want\n%s", got, want)
	}
}
