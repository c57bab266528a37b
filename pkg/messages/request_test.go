package messages

import (
	"strings"
	"testing"
)

// Frontiers and fetchers of the release before know the old name alone.
func TestRequest_NoResend_HasOldAndNewName(t *testing.T) {
	t.Parallel()
	req := Request{Crawl: "c", URL: testURL, Visit: Visit{HashURL(testURL), 1}, Attempt: 1}
	without := string(req.Encode())
	req.NoResend = true
	if got := string(req.Encode()); !strings.Contains(got, `"no_resend":true,"once":true`) {
		t.Errorf("encoded without both names: %s", got)
	}
	for members, want := range map[string]bool{
		``: false, `,"once":true`: true, `,"no_resend":true`: true, `,"no_resend":true,"once":true`: true,
		`,"no_resend":false,"once":true`: true, `,"once":false,"no_resend":true`: true,
	} {
		text := strings.TrimSuffix(without, "}") + members + "}"
		if got, err := DecodeRequest([]byte(text)); err != nil || got.NoResend != want {
			t.Errorf("%s is read as %+v, %v; want %v", text, got, err, want)
		}
	}
}
