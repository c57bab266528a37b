package crawlspec

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"seine/pkg/messages"
)

// Alerts are the thresholds that raise alerts, one for each kind; 0 turns one off. In YAML and JSON, off turns
// all off.
type Alerts struct {
	// ErrorRate is the part of the requests of the last Over that failed, 0 to 1.
	// Fewer than MinRequests say nothing.
	ErrorRate   float64  `json:"error_rate"`
	Over        Duration `json:"over"`
	MinRequests int64    `json:"min_requests"`
	// NoProgress is how long no visit has ended although something could be done:
	// a request or a page is in progress, or a host is due. URLs that wait for a host's
	// delay, Retry-After, hours or breaker, for a schedule or in a pause, do not count.
	NoProgress Duration `json:"no_progress"`
	// Lag is the age of the oldest message that waits for a stage, LagMessages how
	// many wait for it.
	Lag         Duration `json:"lag"`
	LagMessages int64    `json:"lag_messages,omitempty"`
	// StreamFull is the part of its limit that a stream has, 0 to 1. Half is kept
	// as history, so only more than that means anything.
	StreamFull float64 `json:"stream_full"`
	// DiskFree is the least free space of the disks with state and output.
	DiskFree Bytes `json:"disk_free"`
	// Memory is the share of its memory limit that a process may use, 0 to 1. The limit is that of its
	// container, else of the machine.
	Memory float64 `json:"memory"`
	// DeadLetters is how many dead letters of the crawl there are.
	DeadLetters int64 `json:"dead_letters"`
	// Yield is the part of the records of a kind that the runs before have made, 0 to 1,
	// that a run has made at least: of their median, and of no fewer than three.
	Yield float64 `json:"yield"`
	// Blocked is the part of the requests of the last Over in whose place a challenge or a
	// CAPTCHA came, 0 to 1. Fewer than five of them say nothing.
	Blocked float64 `json:"blocked"`
	// Webhook is a URL that each change is posted to as JSON. "{secret:NAME}" in it
	// is replaced by the frontier.
	Webhook string `json:"webhook,omitempty"`
	// AllowPrivate lets the webhook go to loopback and private addresses.
	AllowPrivate bool `json:"allow_private,omitempty"`
}

// AlertsOff is the text that stands for Alerts with every threshold at 0.
type AlertsOff string

// Off turns all alerts off.
const Off AlertsOff = "off"

// UnmarshalText accepts "off".
func (o *AlertsOff) UnmarshalText(text []byte) error {
	if string(text) != string(Off) {
		return fmt.Errorf("%q: must be off, or thresholds such as error_rate and no_progress", messages.Clip(string(text)))
	}
	*o = Off
	return nil
}

// DefaultAlerts raise no alert in a crawl that goes well.
func DefaultAlerts() Alerts {
	return Alerts{
		ErrorRate: 0.1, Over: Duration(5 * time.Minute), MinRequests: 50, NoProgress: Duration(15 * time.Minute),
		Lag: Duration(30 * time.Minute), StreamFull: 0.95, DiskFree: 1 << 30, Memory: 0.9,
		DeadLetters: 1, Yield: 0.5, Blocked: 0.05,
	}
}

// UnmarshalJSON accepts thresholds, or "off". Omitted thresholds keep their values.
func (a *Alerts) UnmarshalJSON(b []byte) error {
	if isText(b) {
		*a = Alerts{}
	}
	type plain Alerts
	return textOr(b, new(AlertsOff), (*plain)(a))
}

// Off reports whether all alerts are off.
func (a *Alerts) Off() bool {
	return *a == Alerts{Webhook: a.Webhook, AllowPrivate: a.AllowPrivate}
}

// leastAlertTime is the least time of a threshold: the cluster is checked at most every second.
const leastAlertTime = Duration(time.Second)

func (a *Alerts) check(p *Problems) {
	const off = "0 is off"
	between(p, "alerts.error_rate", a.ErrorRate, 0, 1)
	between(p, "alerts.stream_full", a.StreamFull, 0, 1)
	between(p, "alerts.memory", a.Memory, 0, 1)
	between(p, "alerts.yield", a.Yield, 0, 1)
	between(p, "alerts.blocked", a.Blocked, 0, 1)
	p.alertTime("alerts.no_progress", a.NoProgress)
	p.alertTime("alerts.lag", a.Lag)
	if a.ErrorRate+a.Blocked > 0 {
		between(p, "alerts.over", a.Over, leastAlertTime, Duration(24*time.Hour))
	}
	if a.ErrorRate > 0 && a.MinRequests < 1 {
		p.Addf("alerts.min_requests", "%d: must be at least 1", a.MinRequests)
	}
	notNegative(p, "alerts.lag_messages", a.LagMessages, off)
	notNegative(p, "alerts.dead_letters", a.DeadLetters, off)
	notNegative(p, "alerts.disk_free", a.DiskFree, off)
	p.Add("alerts.webhook", checkWebhook(a.Webhook))
}

func (p *Problems) alertTime(path string, d Duration) {
	if d < 0 || d > 0 && d < leastAlertTime {
		p.Addf(path, "%s: must be 0s (off) or at least 1s", d)
	}
}

// checkWebhook does not repeat the URL: it is often a secret itself.
func checkWebhook(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(secretPattern().ReplaceAllString(text, "x"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New(`must be a URL with http:// or https:// and a host`)
	}
	if u.Fragment != "" {
		return errors.New("a fragment (#…) is never sent: take it away")
	}
	if scheme, rest, _ := strings.Cut(text, "://"); secretIn(scheme) != "" || secretIn(authority(rest)) != secretIn(userinfo(rest)) {
		return errors.New("the scheme and the host cannot be secrets: people must see where alerts go")
	}
	if password, ok := u.User.Password(); ok && password != "x" {
		return errors.New(`write the name of a secret for the password, as in "{secret:NAME}": a spec is not secret`)
	}
	return checkSecrets(text, true)
}

// authority returns the part of a URL between its scheme and the path, userinfo the part of it
// before the host.
func authority(rest string) string {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[:i]
	}
	return rest
}

func userinfo(rest string) string {
	a := authority(rest)
	return a[:strings.LastIndexByte(a, '@')+1]
}

// WebhookOrigin returns the destination of a webhook, without parts that may be secret.
func WebhookOrigin(webhook string) string {
	u, err := url.Parse(secretPattern().ReplaceAllString(webhook, "x"))
	if err != nil {
		return "a malformed URL"
	}
	place := u.Scheme + "://" + u.Host + "/"
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		place += "…"
	}
	return place
}
