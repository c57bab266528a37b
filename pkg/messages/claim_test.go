package messages

import (
	"encoding/json"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
)

func TestClaimReply_OldAndNewNames_ReadAlike(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ClaimReply{
		`{"wanted": true}`:                     {Granted: true},
		`{"granted": true}`:                    {Granted: true},
		`{"wanted": true, "granted": true}`:    {Granted: true},
		`{"wanted": false}`:                    {},
		`{"granted": false}`:                   {},
		`{"wanted": false, "behind": true}`:    {Retry: true},
		`{"granted": false, "retry": true}`:    {Retry: true},
		`{"error": "cannot decode"}`:           {Error: "cannot decode"},
		`{"GRANTED": true, "Wanted": true}`:    {},
		`{"granted": true, "later": "a name"}`: {Granted: true},
	} {
		var got ClaimReply
		if err := jsontext.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestClaimReply_Encoded_HasOldAndNewNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reply ClaimReply
		want  string
	}{
		{ClaimReply{Granted: true}, `{"granted":true,"wanted":true}`},
		{ClaimReply{}, `{"granted":false,"wanted":false}`},
		{ClaimReply{Retry: true}, `{"granted":false,"retry":true,"wanted":false,"behind":true}`},
		{ClaimReply{Error: "why"}, `{"error":"why","granted":false,"wanted":false}`},
	} {
		if got, err := json.Marshal(c.reply); err != nil || string(got) != c.want {
			t.Errorf("%+v is %s, %v; want %s", c.reply, got, err, c.want)
		}
	}
}

func TestClaimant_OldAndNewHeader_Read(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Seine-Asker", "Seine-Claimant"} {
		if got := Claimant(nats.Header{name: {"me"}}); got != "me" {
			t.Errorf("the claimant in %s is %q", name, got)
		}
	}
}
