package roles_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/run/roles"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// victims are subjects with readers: specs, leases, shared state of stages, streams, objects,
// orders to the frontier, inboxes.
var victims = []string{
	"$KV.seine_crawls.victim", "$KV.seine_meta.victim", "$KV.seine_meta.layout", "$KV.seine_leases.lease.frontier.9", "$KV.seine_leases.lease.alerts.9",
	"$KV.seine_leases.lease.writer-victim.9", "$KV.seine_robots.victim.x", "$KV.seine_duplicates.victim.x",
	"seine.seeds.victim", "seine.urls.victim.0", "seine.seeded.victim.0", "seine.redirects.victim.0", "seine.fetch.victim.0", "seine.render.victim.0", "seine.pages.victim.0", "seine.results.victim.0", "seine.records.victim.0",
	"seine.dead.frontier.victim", "seine.dead.parser.victim", "$O.seine_bodies.M.victim", "$O.seine_bodies.C.victim", "$O.seine_snapshots.M.victim",
	messages.SubjectControl, "seine.drain.victim", "_INBOX_operator.victim", "_INBOX_frontier.victim",
}

// watched receives the messages to the victims.
type watched struct {
	nc   *nats.Conn
	subs []*nats.Subscription // in the order of victims
}

func watch(t *testing.T, nc *nats.Conn) *watched {
	t.Helper()
	w := &watched{nc: nc}
	for _, victim := range victims {
		sub, err := nc.SubscribeSync(victim)
		check(t, err)
		w.subs = append(w.subs, sub)
	}
	check(t, nc.Flush())
	return w
}

// take returns the messages that the server has sent to the victims since the last call. Pushed
// messages have the subject under which they were stored.
func (w *watched) take(t *testing.T) map[string][]string {
	t.Helper()
	check(t, w.nc.Flush()) // messages sent before have arrived
	all := make(map[string][]string)
	for i, sub := range w.subs {
		n, _, err := sub.Pending()
		check(t, err)
		for range n {
			m, err := sub.NextMsg(time.Second)
			check(t, err)
			all[victims[i]] = append(all[victims[i]], fmt.Sprintf("%s %v %.80q", m.Subject, m.Header, m.Data))
		}
	}
	return all
}

// fill stores two messages under every subject of every stream and bucket.
func fill(t *testing.T, b *stages.Bus) {
	t.Helper()
	for _, s := range []string{
		"$KV.seine_crawls.shop", "$KV.seine_crawls.x", "$KV.seine_meta.x", "$KV.seine_leases.lease.writer-default.x", "$KV.seine_leases.member.writer-default.x",
		"$KV.seine_robots.x.y", "$KV.seine_duplicates.x.y", "seine.seeds.x", "seine.urls.x.0", "seine.urls.x.1", "seine.seeded.x.0", "seine.redirects.x.0", "seine.fetch.x.0", "seine.render.x.0", "seine.pages.x.0",
		"seine.results.x.0", "seine.records.x.0", "seine.records.x.1", "seine.dead.parser.x", "$O.seine_bodies.M.x", "$O.seine_bodies.C.x", "$O.seine_snapshots.M.x",
	} {
		for range 2 {
			_, err := b.JS.Publish(t.Context(), s, []byte(`{"v":1}`))
			check(t, err)
		}
	}
}

// requests returns the possible requests on a subject, with answers or pushes to a victim.
func requests(subject, victim string) (subjects []string, payloads []string) {
	if rest, ok := strings.CutPrefix(subject, "$JS.API.CONSUMER.CREATE."); ok {
		tokens := strings.SplitN(rest, ".", 3)
		name := tokens[1]
		if name == "*" {
			name = fmt.Sprint("spy-", slices.Index(victims, victim))
		}
		config := map[string]any{"name": name, "deliver_subject": victim, "ack_policy": "none", "deliver_policy": "all"}
		at := tokens[0] + "." + name
		if len(tokens) == 3 {
			at += "." + tokens[2]
			config["filter_subject"] = tokens[2]
		}
		text, _ := json.Marshal(map[string]any{"stream_name": tokens[0], "config": config, "action": ""})
		twice := strings.Replace(string(text), `"config":{`, `"config":{},"Config":{`, 1)
		return []string{"$JS.API.CONSUMER.CREATE." + at}, []string{string(text), twice, "{}"}
	}
	payloads = []string{"", "{}", `{"seq":1}`, `{"seq":1000000}`, `{"seq":1,"batch":4}`, `{"last_by_subj":">"}`, `{"next_by_subj":">"}`, `{"multi_last":[">"]}`, `{"batch":3,"expires":5000000000}`, `{"batch":3,"no_wait":true}`}
	plain := strings.NewReplacer("*", "x", ">", "x.y").Replace(subject)
	return []string{plain, strings.ReplaceAll(plain, "x.y", "shop")}, payloads
}

// askFor sends all requests that a user is allowed to send, with answers to a victim.
func askFor(t *testing.T, nc *nats.Conn, r *roles.Role, victim string) {
	t.Helper()
	for _, g := range r.Publish {
		for _, s := range g.Subjects {
			subjects, payloads := requests(s, victim)
			for _, subject := range subjects {
				for _, p := range payloads {
					check(t, nc.PublishRequest(subject, victim, []byte(p)))
				}
			}
		}
	}
	for err := nats.ErrConnectionClosed; errors.Is(err, nats.ErrConnectionClosed); { // a slow server makes it reconnect
		err = nc.Flush()
	}
}

// Whatever a restricted user requests, with whatever reply subject or push consumer, no message
// reaches a subject that it may not publish to.
func TestAnswersReachNoSubjectThatAUserMayNotPublishTo(t *testing.T) {
	t.Parallel()
	b, in := start(t), some()
	frontier, admin := b.dial(t, "frontier"), b.dial(t, "admin")
	check(t, frontier.Provision(t.Context(), 2, messages.DefaultStreamLimits(), 1))
	stagestest.ProvisionSnapshots(t, frontier, 64<<20)
	stop, err := stages.MakeConsumers(frontier)
	check(t, err)
	defer stop()
	_, err = frontier.NC.Subscribe("seine.frontier.status.*", func(m *nats.Msg) { _ = m.Respond([]byte(`{}`)) })
	check(t, err)
	for _, c := range []struct{ stream, name, filter string }{
		{"FETCH", "fetcher", "seine.fetch.*.*"}, {"FETCH", "renderer", "seine.render.*.*"},
		{"PAGES", "parser", ""}, {"RECORDS", "writer-default-0", ""}, {"PAGES", "writer-archive-0", ""}, // the other consumers do not exist, so that users can try to create them
	} {
		_, err := admin.JS.CreateConsumer(t.Context(), c.stream, jetstream.ConsumerConfig{Durable: c.name, FilterSubject: c.filter, AckPolicy: jetstream.AckExplicitPolicy})
		check(t, err)
	}
	fill(t, admin)
	seen := watch(t, admin.NC)
	try := func(r *roles.Role) map[string][]string {
		c := b.dial(t, r.Name)
		defer c.Close()
		collect(c.NC)
		for _, victim := range victims {
			if !allows(r.Publish, victim) { // otherwise it can write there anyway
				askFor(t, c.NC, r, victim)
			}
		}
		awaitMakers(t, c.NC, r)
		awaitAnswers(t, admin)
		fill(t, admin)
		awaitPushes(t, admin)
		all := seen.take(t)
		for s := range all {
			if allows(r.Publish, s) {
				delete(all, s)
			}
		}
		return all
	}
	for _, r := range in.All() {
		if !r.Apart {
			continue
		}
		for victim, said := range try(&r) {
			t.Errorf("%s has %d messages published to %s: %s", r.Name, len(said), victim, said[0])
		}
	}
	// An unrestricted user shows that the test can detect such messages.
	operator := b.dial(t, "operator")
	check(t, operator.NC.PublishRequest("$JS.API.STREAM.INFO.PAGES", "$KV.seine_meta.victim", nil))
	deadline := time.Now().Add(20 * time.Second)
	for len(seen.take(t)) == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the test sees nothing")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// No answer acknowledges a message of another client, although a server forwards reply subjects in
// $JS.ACK unchanged: it does not accept them from clients.
func TestAnswersAcknowledgeNothing(t *testing.T) {
	t.Parallel()
	b, in := start(t), some()
	frontier, admin := b.dial(t, "frontier"), b.dial(t, "admin")
	check(t, frontier.Provision(t.Context(), 2, messages.DefaultStreamLimits(), 1))
	stagestest.ProvisionSnapshots(t, frontier, 64<<20)
	fill(t, admin)
	stop, err := stages.MakeConsumers(frontier)
	check(t, err)
	defer stop()
	c, err := admin.JS.CreateConsumer(t.Context(), messages.StreamRecords, jetstream.ConsumerConfig{
		Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Hour,
	})
	check(t, err)
	m, err := c.Next()
	check(t, err)
	for _, r := range in.All() {
		if !r.Apart {
			continue
		}
		nc := b.dial(t, r.Name).NC
		collect(nc)
		askFor(t, nc, &r, m.Reply())
		awaitAnswers(t, admin)
		// Acknowledgements are processed in order, so all earlier ones were processed before this
		// one.
		fill(t, admin)
		other, err := c.Next()
		check(t, err)
		check(t, other.DoubleAck(t.Context()))
		info, err := c.Info(t.Context())
		check(t, err)
		if info.NumAckPending != 1 {
			t.Errorf("%s had a message of a worker acknowledged", r.Name)
		}
	}
}

// awaitMakers waits until the frontiers of this process have handled all consumer requests that a
// user has sent before.
func awaitMakers(t *testing.T, nc *nats.Conn, r *roles.Role) {
	t.Helper()
	for _, g := range r.Publish {
		for _, s := range g.Subjects {
			if strings.HasPrefix(s, "$JS.API.CONSUMER.CREATE.") { // a frontier handles requests in order, and refuses this one
				subjects, _ := requests(s, "")
				_, err := nc.Request(subjects[0], []byte("no request"), 60*time.Second)
				check(t, err)
			}
		}
	}
	deadline := time.Now().Add(60 * time.Second)
	for isMaking() {
		if time.Now().After(deadline) {
			t.Fatal("a frontier is still making consumers")
		}
		time.Sleep(time.Millisecond)
	}
}

// isMaking reports whether a frontier of this process is handling a consumer request.
func isMaking() bool {
	stacks := make([]byte, 1<<20)
	for {
		if n := runtime.Stack(stacks, true); n < len(stacks) {
			return bytes.Contains(stacks[:n], []byte("(*consumerMaker).make("))
		}
		stacks = make([]byte, 2*len(stacks))
	}
}

// awaitPushes waits until all push consumers have pushed the stored messages to the victims.
func awaitPushes(t *testing.T, admin *stages.Bus) {
	t.Helper()
	for name := range admin.JS.StreamNames(t.Context()).Name() {
		for deadline := time.Now().Add(30 * time.Second); isPushing(t, admin, name); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is still being pushed to a victim", name)
			}
		}
	}
}

// isPushing reports whether a consumer of a stream has more to push to a victim.
func isPushing(t *testing.T, admin *stages.Bus, stream string) bool {
	t.Helper()
	consumers, err := admin.Consumers(t.Context(), stream)
	check(t, err)
	return slices.ContainsFunc(consumers, func(c *jetstream.ConsumerInfo) bool {
		return c.NumPending > 0 && slices.Contains(victims, c.Config.DeliverSubject)
	})
}

// awaitAnswers waits until the server has answered all earlier requests: its API answers in order,
// and so does each stream for direct gets.
func awaitAnswers(t *testing.T, admin *stages.Bus) {
	t.Helper()
	for name := range admin.JS.StreamNames(t.Context()).Name() {
		_, err := admin.NC.RequestWithContext(t.Context(), "$JS.API.DIRECT.GET."+name, []byte(`{"seq":1}`))
		if err != nil && !errors.Is(err, nats.ErrNoResponders) { // such streams do not allow direct gets
			t.Fatal(err)
		}
	}
	_, err := admin.JS.AccountInfo(t.Context())
	check(t, err)
}
