package crawlspec

import (
	"strings"
	"testing"
)

func TestAlertsOff(t *testing.T) {
	fromYAML, err := parseSpec([]byte("alerts: off\n"))
	if err != nil {
		t.Fatal(err)
	}
	fromJSON, err := Decode([]byte(`{"v": 1, "alerts": "off"}`))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(fromYAML.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Spec{fromYAML, fromJSON, again} {
		if s.Alerts != (Alerts{}) {
			t.Errorf("alerts are not off: %+v", s.Alerts)
		}
	}
	if _, err := Decode([]byte(`{"v": 1, "alerts": "on"}`)); err == nil || !strings.Contains(err.Error(), "must be off") {
		t.Errorf("got %v", err)
	}
}

// Thresholds that are left out have their defaults. A threshold of 0 stays 0.
func TestAlertsDefaults(t *testing.T) {
	s, err := parseSpec([]byte("alerts: {error_rate: 0, lag: 1h}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultAlerts()
	want.ErrorRate, want.Lag = 0, Duration(3600e9)
	if s.Alerts != want {
		t.Errorf("got %+v", s.Alerts)
	}
	if again, err := Decode(s.Encode()); err != nil || again.Alerts != want {
		t.Errorf("stored and read again it is %+v, %v", again.Alerts, err)
	}
}

func TestAlertsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`{"error_rate": -0.1}`:                          "error_rate: -0.1: must be from 0",
		`{"memory": 90}`:                                "memory: 90: must be from 0 to 1",
		`{"no_progress": "10ms"}`:                       "no_progress: 10ms: must be 0s (off) or at least 1s",
		`{"over": "0s"}`:                                "over: 0s: must be from 1s",
		`{"min_requests": 0}`:                           "min_requests: 0: must be at least 1",
		`{"dead_letters": -1}`:                          "dead_letters: -1: must not be negative",
		`{"yield": 50}`:                                 "yield: 50: must be from 0 to 1",
		`{"blocked": 5}`:                                "blocked: 5: must be from 0 to 1",
		`{"error_rate": 0, "over": "0s"}`:               "over: 0s: must be from 1s",
		`{"lag_messages": -1}`:                          "lag_messages: -1: must not be negative",
		`{"webhook": "hooks.example"}`:                  "webhook: must be a URL",
		`{"webhook": "ftp://hooks.example/"}`:           "webhook: must be a URL",
		`{"webhook": "https://{secret:HOST}/"}`:         "cannot be secrets",
		`{"webhook": "https://me:hunter2@h.example/"}`:  "name of a secret for the password",
		`{"webhook": "https://h.example/{secret:A|b}"}`: "has no default",
		`{"webhook": "https://h.example/#x"}`:           "fragment",
	} {
		_, err := Decode([]byte(`{"v": 1, "alerts": ` + text + `}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error repeats the password", text)
		}
	}
	for _, webhook := range []string{
		"", "https://hooks.example/", "http://10.0.0.1:9093/a?b=c", "https://hooks.example/{secret:HOOK}?key={secret:KEY}",
		"https://me:{secret:PASSWORD}@hooks.example/",
	} {
		s := Default()
		s.Alerts.Webhook = webhook
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", webhook, err)
		}
	}
}

func TestWebhookPlaceTellsNoSecret(t *testing.T) {
	for webhook, want := range map[string]string{
		"https://hooks.example/services/T0/s3cret": "https://hooks.example/…",
		"https://me:{secret:P}@hooks.example:8443": "https://hooks.example:8443/",
		"http://h.example/?token=s3cret":           "http://h.example/…",
	} {
		if got := WebhookOrigin(webhook); got != want {
			t.Errorf("%s: got %s, want %s", webhook, got, want)
		}
	}
}

// Thresholds missing in a stored spec have their defaults.
func TestAlertsThatAreNotStored_Defaults(t *testing.T) {
	for text, want := range map[string]func(*Alerts){
		`{"error_rate": 0}`:                 func(a *Alerts) { a.ErrorRate = 0 },
		`{"yield": 0}`:                      func(a *Alerts) { a.Yield = 0 },
		`{"dead_letters": 5, "yield": 0.9}`: func(a *Alerts) { a.DeadLetters, a.Yield = 5, 0.9 },
	} {
		s, err := Decode([]byte(`{"v": 1, "alerts": ` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		a := DefaultAlerts()
		if want(&a); s.Alerts != a {
			t.Errorf("%s is read as %+v, want %+v", text, s.Alerts, a)
		}
	}
}
