package roles_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// journal is a log that a test can read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// makers starts a server with its streams, and a frontier that creates consumers and logs to a
// journal.
func makers(t *testing.T) (bus, *journal) {
	t.Helper()
	b, log := start(t), new(journal)
	frontier, err := b.options(t, "frontier").Dial("test", slog.New(slog.NewTextHandler(log, nil)))
	check(t, err)
	t.Cleanup(frontier.Close)
	check(t, frontier.Provision(t.Context(), 2, messages.DefaultStreamLimits(), 1))
	stop, err := stages.MakeConsumers(frontier)
	check(t, err)
	t.Cleanup(stop)
	check(t, frontier.NC.Flush())
	return b, log
}

// askConsumer requests a consumer as a client does.
func askConsumer(t *testing.T, b *stages.Bus, at string, request []byte) (info jetstream.ConsumerInfo, err error) {
	t.Helper()
	m, err := b.NC.Request("$JS.API.CONSUMER.CREATE."+at, request, 30*time.Second)
	check(t, err)
	var answer struct {
		Error *jetstream.APIError `json:"error"`
		*jetstream.ConsumerInfo
	}
	check(t, json.Unmarshal(m.Data, &answer))
	if answer.Error != nil {
		return info, answer.Error
	}
	return *answer.ConsumerInfo, nil
}

// No user with its own account can make a frontier create a consumer with unbounded cost for the
// server. The user gets an error, and the log has one line per cause.
func TestMakeConsumers_RequestWithoutBound_Refused(t *testing.T) {
	t.Parallel()
	b, log := makers(t)
	parser := b.dial(t, "parser")
	const pages, specs = "PAGES.parser.seine.pages.*.*", "KV_seine_crawls.x.$KV.seine_crawls.>"
	for _, c := range []struct{ name, at, config, says string }{
		{"durable of a bucket", specs, `"durable_name":"x","name":"x","filter_subject":"$KV.seine_crawls.>"`, "durable"},
		{"large", pages, `"durable_name":"parser","filter_subject":"seine.pages.*.*","description":"` + strings.Repeat("x", 16<<10) + `"`, "bytes"},
		{"all unacknowledged", pages, `"durable_name":"parser","filter_subject":"seine.pages.*.*","max_ack_pending":-1`, "max_ack_pending"},
		{"too many unacknowledged", pages, `"durable_name":"parser","filter_subject":"seine.pages.*.*","max_ack_pending":1000000`, "max_ack_pending"},
		{"too many waiting", pages, `"durable_name":"parser","filter_subject":"seine.pages.*.*","max_waiting":1000000`, "max_waiting"},
		{"inbox of another", pages, `"durable_name":"parser","filter_subject":"seine.pages.*.*","deliver_subject":"_INBOX_frontier.x"`, "_INBOX_frontier.x"},
		{"not JSON", pages, `"durable_name":`, "decode"},
	} {
		for range 3 {
			stream, _, _ := strings.Cut(c.at, ".")
			_, err := askConsumer(t, parser, c.at, fmt.Appendf(nil, `{"stream_name":%q,"config":{%s}}`, stream, c.config))
			if api, ok := errors.AsType[*jetstream.APIError](err); !ok || api.Code != 403 || !strings.Contains(api.Description, c.says) {
				t.Errorf("%s: got %v, want 403 with %q", c.name, err, c.says)
			}
		}
	}
	_, err := parser.JS.CreateConsumer(t.Context(), messages.StreamPages, jetstream.ConsumerConfig{
		Durable: "parser", FilterSubject: "seine.pages.*.*", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1,
	})
	if api, ok := errors.AsType[*jetstream.APIError](err); !ok || api.Code != 403 {
		t.Errorf("the client shows %v", err)
	}
	const causes = 6 // of the seven, two are about max_ack_pending
	if n := strings.Count(log.String(), "refused to create a consumer"); n != causes {
		t.Errorf("got %d lines in the log, want %d:\n%s", n, causes, log)
	}
}

// The server removes an ephemeral consumer without subscribers after five minutes.
func TestMakeConsumers_EphemeralConsumer_InactiveThresholdIsCapped(t *testing.T) {
	t.Parallel()
	b, _ := makers(t)
	info, err := askConsumer(t, b.dial(t, "writer"), "KV_seine_leases.x", fmt.Appendf(nil,
		`{"stream_name":"KV_seine_leases","config":{"name":"x","ack_policy":"none","inactive_threshold":%d}}`, 1000*time.Hour))
	check(t, err)
	if got := info.Config.InactiveThreshold; got != 5*time.Minute {
		t.Errorf("inactive_threshold is %s, want 5m0s", got)
	}
}

// The number of consumers of a bucket is bounded, even with different names.
func TestMakeConsumers_ManyNames_BoundedForEachBucket(t *testing.T) {
	t.Parallel()
	b, _ := makers(t)
	admin, parser := b.dial(t, "admin"), b.dial(t, "parser")
	const most = 1000
	create := func(on *stages.Bus, i int) error {
		_, err := on.JS.CreateConsumer(t.Context(), "KV_seine_crawls", jetstream.ConsumerConfig{
			Name: fmt.Sprint("c", i), FilterSubject: "$KV.seine_crawls.>", InactiveThreshold: time.Hour, MemoryStorage: true,
		})
		return err
	}
	for i := range most {
		check(t, create(admin, i))
	}
	err := create(parser, most)
	if api, ok := errors.AsType[*jetstream.APIError](err); !ok || api.Code != 403 || !strings.Contains(api.Description, "1000 consumers") {
		t.Errorf("got %v, want 403 with the number of consumers", err)
	}
	check(t, admin.JS.DeleteConsumer(t.Context(), "KV_seine_crawls", "c0"))
	check(t, create(parser, most))
}
