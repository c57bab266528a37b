package stages

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/internal/testing/natstest"
)

// consumerAnswer returns the error that a client reads from an answer.
func consumerAnswer(t *testing.T, m *nats.Msg) *jetstream.APIError {
	t.Helper()
	var answer struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		t.Fatalf("answer %q: %v", m.Data, err)
	}
	return answer.Error
}

// A server that does not answer blocks a bounded number of requests of a user, and no requests of
// others.
func TestMakeConsumers_ServerAnswersNothing_BoundedForEachUser(t *testing.T) {
	t.Parallel()
	br := natstest.NewBroker(t, func(o *server.Options) { o.JetStream = false })
	b, logged := dial(t, br.URL())
	client, _ := dial(t, br.URL())
	const extra = 36
	asked := make(chan *nats.Msg, 2*maxConsumerRequests)
	if _, err := client.NC.ChanSubscribe("$JS.API.>", asked); err != nil {
		t.Fatal(err)
	}
	answers, err := client.NC.SubscribeSync("answers")
	if err != nil {
		t.Fatal(err)
	}
	if err := client.NC.Flush(); err != nil {
		t.Fatal(err)
	}
	stop, err := MakeConsumers(b)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := b.NC.Flush(); err != nil {
		t.Fatal(err)
	}
	request := func(user string) {
		t.Helper()
		if err := client.NC.PublishRequest("seine.consumers."+user+".PAGES.parser", "answers", []byte(`{"stream_name":"PAGES","config":{"durable_name":"parser"}}`)); err != nil {
			t.Fatal(err)
		}
	}
	for range maxConsumerRequests + extra {
		request("greedy")
	}
	for range extra {
		m, err := answers.NextMsg(30 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if refused := consumerAnswer(t, m); refused == nil || refused.Code != 503 || !jsclient.Unavailable(refused) {
			t.Errorf("answer %+v, want 503, that a stage asks again after", refused)
		}
	}
	request("other")
	for i := range maxConsumerRequests + 1 {
		select {
		case <-asked:
		case <-time.After(30 * time.Second):
			t.Fatalf("JetStream got %d requests, want %d", i, maxConsumerRequests+1)
		}
	}
	if n := strings.Count(logged.String(), "refused to create a consumer"); n != 1 {
		t.Errorf("got %d lines in the log, want 1:\n%s", n, logged.String())
	}
}
