package check

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// triggers are those of a rendering, by consumer.
func triggers(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	found := make(map[string]map[string]string)
	for _, s := range of[*scaledObject](rendered(t, text)) {
		for _, tr := range s.Spec.Triggers {
			if tr.Type != "nats-jetstream" || tr.MetricType != "AverageValue" {
				t.Errorf("%s: trigger %s of %s", s.Name, tr.Type, tr.MetricType)
			}
			found[tr.Metadata["consumer"]] = tr.Metadata
		}
	}
	return found
}

// Stages scale by the streams and consumers that they share (pkg/messages).
func TestTriggersNameStreamsAndConsumersOfTheStages(t *testing.T) {
	all := triggers(t, Cases["keda"])
	for consumer, stream := range map[string]string{
		messages.ConsumerFetch: messages.StreamFetch, messages.ConsumerRender: messages.StreamFetch, messages.ConsumerParse: messages.StreamPages,
	} {
		if m := all[consumer]; m["stream"] != stream || m["account"] != "$G" || m["natsServerMonitoringEndpoint"] != "seine-nats-headless.seine.svc.cluster.local:8222" {
			t.Errorf("%s scales by %v", consumer, m)
		}
	}
	if len(all) != 3 {
		t.Errorf("triggers: %v", all)
	}
	if chained := triggers(t, Cases["chain"]); chained[messages.ConsumerParse]["stream"] != messages.StreamPages || len(chained) != 2 {
		t.Errorf("fetchers with --chain scale by %v", chained)
	}
}

// lagged has Seine's streams on a server with a monitoring port, and in FETCH requests that wait and that are held.
func lagged(t *testing.T) (monitoring string) {
	t.Helper()
	b := natstest.NewBroker(t, func(o *server.Options) { o.HTTPHost, o.HTTPPort = "127.0.0.1", -1 })
	js := jetStream(t, b.URL())
	for _, s := range messages.Streams(messages.DefaultStreamLimits(), 1) {
		if _, err := js.CreateStream(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	consumer, err := js.CreateConsumer(t.Context(), messages.StreamFetch, messages.WorkConsumer(messages.ConsumerFetch, "seine.fetch.*.*", 1000))
	if err != nil {
		t.Fatal(err)
	}
	for i := range waiting + held {
		if _, err := js.Publish(t.Context(), messages.SubjectFetch(messages.DefaultCrawl, i%16), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := consumer.Fetch(held); err != nil {
		t.Fatal(err)
	} else {
		for range held {
			<-got.Messages()
		}
	}
	return b.Server.MonitorAddr().String()
}

const waiting, held = 300, 40

// The monitoring port tells, of the account, stream and consumer of the trigger, what KEDA adds up: what waits and what is
// held.
func TestLagIsWhatTheMonitoringPortTells(t *testing.T) {
	monitoring, trigger := lagged(t), triggers(t, Cases["keda"])[messages.ConsumerFetch]
	if got := lagOf(t, monitoring, trigger); got != waiting+held {
		t.Errorf("the lag is %d, want %d", got, waiting+held)
	}
	threshold, err := strconv.Atoi(trigger["lagThreshold"])
	if pods := (waiting + held + threshold - 1) / threshold; err != nil || pods != 3 {
		t.Errorf("it needs %d pods, %v", pods, err)
	}
}

// lagOf is the lag of a consumer as /jsz has it.
func lagOf(t *testing.T, monitoring string, trigger map[string]string) (lag uint64) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+monitoring+"/jsz?acc="+trigger["account"]+"&consumers=true&config=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var info server.JSInfo
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil {
		t.Fatal(err)
	}
	for _, account := range info.AccountDetails {
		for _, s := range account.Streams {
			for _, c := range s.Consumer {
				if account.Name == trigger["account"] && s.Name == trigger["stream"] && c.Name == trigger["consumer"] {
					return c.NumPending + uint64(c.NumAckPending)
				}
			}
		}
	}
	t.Fatalf("there is no %v in %+v", trigger, info)
	return 0
}

func jetStream(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}
