package state

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Each failed request is logged with its URL, the reason and the next step; other requests are not.
func TestFailedRequestsAreToldWithWhatComesNext(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 2 })
	var said bytes.Buffer
	w.part.log = slog.New(slog.NewJSONHandler(&said, nil))
	line := func() map[string]any {
		t.Helper()
		defer said.Reset()
		if n := strings.Count(said.String(), "\n"); n != 1 {
			t.Fatalf("%d lines instead of one: %s", n, said.String())
		}
		var l map[string]any
		w.must(json.Unmarshal(said.Bytes(), &l))
		return l
	}
	answer := func(url string, class messages.Class, status int) {
		t.Helper()
		w.dispatch(1)
		w.result(url, func(r *messages.Result) { r.Class, r.Status, r.Error = class, status, "as it was" })
	}
	const url = "https://a.test/?q=1"
	w.seed(url)
	answer(url, messages.ServerError, 500)
	l := line()
	at, err := time.Parse(time.RFC3339, l["at"].(string))
	w.must(err)
	if wait := at.Sub(w.now); l["msg"] != "request failed" || l["level"] != "INFO" || l["crawl"] != "c" || l["url"] != url || l["class"] != "server_error" ||
		l["status"] != 500.0 || l["attempt"] != 1.0 || l["error"] != "as it was" || l["next"] != "retry" || wait < -time.Second || wait > time.Minute {
		t.Errorf("the first attempt: %v, which is in %s", l, wait)
	}
	w.pass(time.Minute)
	w.tend()
	answer(url, messages.ServerError, 500)
	if l := line(); l["attempt"] != 2.0 || l["next"] != "abandon" || l["at"] != nil {
		t.Errorf("the last attempt: %v", l)
	}
	w.seed("https://b.test/")
	answer("https://b.test/", messages.UnsupportedType, 200)
	if l := line(); l["next"] != "exclude" || l["reason"] != string(frontierapi.ReasonType) {
		t.Errorf("a type that nobody asked for: %v", l)
	}
	for i, c := range []messages.Class{messages.OK, messages.Redirect, messages.RobotsDenied} {
		other := "https://c.test/" + string(rune('a'+i))
		w.seed(other)
		answer(other, c, 200)
	}
	if said.Len() > 0 {
		t.Errorf("of requests that did not fail it says: %s", said.String())
	}
	w.part.log = slog.New(slog.NewJSONHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.seed("https://d.test/")
	answer("https://d.test/", messages.Gone, 404)
	if said.Len() > 0 {
		t.Errorf("where only warnings are wanted it says: %s", said.String())
	}
}

// Failed logins are counted, whatever the result of the request.
func TestFailedLoginsAreCounted(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 1 })
	for i, c := range []struct {
		class  messages.Class
		detail messages.Detail
		failed int64
	}{
		{messages.Timeout, messages.DetailTotal, 0},
		{messages.Timeout, messages.DetailLogin, 1},
		{messages.ClientError, messages.DetailLogin, 2},
	} {
		url := "https://a" + string(rune('a'+i)) + ".test/"
		w.seed(url)
		w.dispatch(1)
		w.result(url, func(r *messages.Result) { r.Class, r.Detail = c.class, c.detail })
		if n := w.part.crawls.get("c").FailedLogins; n != c.failed {
			t.Errorf("after %s with detail %s: %d failed logins, want %d", c.class, c.detail, n, c.failed)
		}
	}
}
