package e2e

import (
	"fmt"
	"net/http"
	"strings"
)

// wantReplaysByOperatorAlone checks that a server whose user may not read the stored messages
// refuses a replay before it starts, names the missing permission and its owner, and keeps nothing
// of the replay. A server of an operator replays pages and records.
func (l *locked) wantReplaysByOperatorAlone() {
	l.t.Helper()
	_, url := served(l.t, append(l.as("viewer"), "--state", l.t.TempDir())...)
	replays := url + "/api/v1/crawls/site/replays"
	for _, asked := range []string{`{"of": "pages"}`, `{"of": "records"}`, `{"of": "pages", "to": "records"}`} {
		for _, path := range []string{replays, replays + "/check"} {
			status, a := ask(l.t, "POST", path, asked)
			detail := fmt.Sprint(a["detail"])
			if status != http.StatusForbidden || !strings.Contains(detail, "does not let user viewer") || !strings.Contains(detail, "such as operator") {
				l.t.Errorf("%s of %s as viewer: %d %v", path, asked, status, a)
			}
		}
	}
	if status, a := ask(l.t, "GET", replays, ""); status != http.StatusOK || fmt.Sprint(a["items"]) != "[]" {
		l.t.Errorf("what was refused is kept: %d %v", status, a)
	}
	l.wantReplayed("pages")
	l.wantReplayed("records")
}

// wantReplayed checks that a server of an operator replays the stored messages to the end.
func (l *locked) wantReplayed(of string) {
	l.t.Helper()
	_, url := served(l.t, append(l.as("operator"), "--state", l.t.TempDir())...)
	replays := url + "/api/v1/crawls/site/replays"
	status, begun := ask(l.t, "POST", replays, fmt.Sprintf(`{"of": %q}`, of))
	if status != http.StatusAccepted {
		l.t.Fatalf("replay of %s as operator: %d %v", of, status, begun)
	}
	eventually(l.t, patience, "have replayed "+of, func() (bool, string) {
		_, a := ask(l.t, "GET", replays+"/"+fmt.Sprint(begun["id"]), "")
		return a["state"] == "complete", fmt.Sprint(a)
	})
}
