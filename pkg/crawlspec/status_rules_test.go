package crawlspec

import (
	"strings"
	"testing"
	"time"

	"seine/internal/testing/yamltest"
	"seine/pkg/messages"
)

func TestStatusRules(t *testing.T) {
	s := Default()
	text := "on_status: {403: {wait: 10m, attempts: 3}, 4xx: {attempts: 1}, blocked: {attempts: 2}}\nsources: [{hosts: [a.test], on_status: {4xx: {attempts: 9}}}]"
	if err := yamltest.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	again, err := Decode(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		source int
		class  messages.Class
		status int
		want   StatusRule
		ok     bool
	}{
		{-1, messages.ClientError, 403, StatusRule{Duration(10 * time.Minute), 3}, true},
		{-1, messages.Gone, 404, StatusRule{Attempts: 1}, true},
		{-1, messages.Blocked, 403, StatusRule{Attempts: 2}, true},
		{-1, messages.ServerError, 503, StatusRule{}, false},
		{-1, messages.OK, 200, StatusRule{}, false},
		{0, messages.ClientError, 403, StatusRule{Attempts: 9}, true},
		{0, messages.Blocked, 200, StatusRule{Attempts: 2}, true},
	} {
		if rule, ok := again.SourceStatusRule(c.source, c.class, c.status); rule != c.want || ok != c.ok {
			t.Errorf("source %d, %s %d: %+v, %t", c.source, c.class, c.status, rule, ok)
		}
	}
	for rules, want := range map[string]string{
		`{"200": {}}`: "must be a status from 400 to 599", `{"6xx": {}}`: "4xx, 5xx, or blocked", `{"403": {"attempts": 101}}`: "from 1 to 100",
		`{"403": {"wait": "25h"}}`: "from 0s to 24h",
	} {
		if _, err := Decode([]byte(`{"on_status": ` + rules + `}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rules, err, want)
		}
	}
}
