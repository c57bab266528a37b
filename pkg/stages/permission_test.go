package stages

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
)

// limitedServer allows its user "some" to publish only to allowed subjects.
type limitedServer struct {
	*server.Server
	config string
	store  string
}

func startLimited(t *testing.T, allowed string) (*limitedServer, *Bus) {
	t.Helper()
	s := &limitedServer{config: filepath.Join(t.TempDir(), "nats.conf"), store: t.TempDir()}
	s.write(t, allowed)
	opts, err := server.ProcessConfigFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	opts.NoSigs, opts.NoLog = true, true
	s.Server = natstest.Start(t, opts)
	return s, s.dial(t, nats.UserInfo("some", "x"), nats.CustomInboxPrefix("_INBOX_some"))
}

func (s *limitedServer) write(t *testing.T, allowed string) {
	t.Helper()
	text := `listen: "127.0.0.1:-1", jetstream { store_dir: "` + s.store + `", max_file_store: 1TB }
		authorization { users: [
			{ user: all, password: x }
			{ user: some, password: x, permissions: { publish: "` + allowed + `", subscribe: "_INBOX_some.>" } }
		] }`
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *limitedServer) dial(t *testing.T, opts ...nats.Option) *Bus {
	t.Helper()
	bus, err := Dial(s.ClientURL(), "test", slog.New(slog.DiscardHandler), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	return bus
}

// The server does not answer a request that it refuses: the caller gets the reason long before its
// timeout.
func TestRefusalIsToldToWhoWaits(t *testing.T) {
	t.Parallel()
	_, bus := startLimited(t, "seine.seeds.*")
	began := time.Now()
	ctx, cancel := bus.Refusals.CancelOnDenied(t.Context())
	defer cancel()
	_, err := bus.JS.Stream(ctx, "PAGES")
	err = bus.Refusals.WithErr(err)
	refusal, ok := errors.AsType[*PermissionError](err)
	if !ok || refusal.Subject != "$JS.API.STREAM.INFO.PAGES" || !strings.Contains(err.Error(), "user some") {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if !errors.Is(context.Cause(ctx), nats.ErrPermissionViolation) {
		t.Errorf("the context ended with %v", context.Cause(ctx))
	}
	if other := errors.New("disk full"); !errors.Is(bus.Refusals.WithErr(other), other) {
		t.Error("an error of another kind is explained by a refusal")
	}
}

func TestSubscriptionThatIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	_, bus := startLimited(t, ">")
	if _, err := bus.NC.SubscribeSync("seine.pages.>"); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "it is told", func() bool { return bus.Refusals.Err() != nil })
	if got := bus.Refusals.Err().Error(); !strings.Contains(got, "subscribe to seine.pages.>") {
		t.Errorf("it says: %s", got)
	}
}

// A process whose subscription was refused subscribes again, and is ready, once the server's
// configuration allows it, without a restart.
func TestSubscriptionThatIsRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, bus := startLimited(t, ">")
	sub, err := bus.NC.SubscribeSync("seine.pages.>")
	if err != nil {
		t.Fatal(err)
	}
	refused := func() *PermissionError {
		var r *PermissionError
		await.Eventually(t, "it is refused", func() (is bool) { r, is = errors.AsType[*PermissionError](bus.Ready()); return is })
		return r
	}
	first := refused()
	bus.Refusals.retrySubscriptions(first.at.Add(refusalPause - 1))
	if n := bus.NC.Stats().Reconnects; n != 0 {
		t.Fatalf("it connected again %d times, and too early", n)
	}
	bus.Refusals.retrySubscriptions(first.at.Add(refusalPause))
	await.Eventually(t, "it connects again", func() bool { return bus.NC.Stats().Reconnects > 0 })
	await.Eventually(t, "the server refuses it again", func() bool { return refused().at.After(first.at) })
	text, err := os.ReadFile(s.config)
	if err == nil {
		err = os.WriteFile(s.config, bytes.Replace(text, []byte(`subscribe: "_INBOX_some.>"`), []byte(`subscribe: ">"`), 1), 0o600)
	}
	if err = errors.Join(err, s.Reload()); err != nil {
		t.Fatal(err)
	}
	bus.Refusals.retrySubscriptions(time.Now().Add(refusalPause))
	await.Eventually(t, "it is ready", func() bool { return bus.Ready() == nil })
	if err := errors.Join(bus.NC.Publish("seine.pages.x", nil), bus.NC.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.NextMsgWithContext(t.Context()); err != nil {
		t.Error(err)
	}
}

// A late answer is refused because nobody waits for it: no permission is missing.
func TestLateAnswerIsNoRefusal(t *testing.T) {
	t.Parallel()
	_, bus := startLimited(t, "seine.seeds.*")
	for _, subject := range []string{"_INBOX_other.x.y", "_R_.oK3iXW.1Ok2gR", "seine.pages.x"} {
		if err := bus.NC.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	await.Eventually(t, "the last is refused", func() bool { return bus.Refusals.Err() != nil })
	if got := bus.Refusals.Err().Error(); !strings.Contains(got, "seine.pages.x") {
		t.Errorf("it says: %s", got)
	}
}

// A refused message is held back like one to a full stream, and is sent when it is allowed.
func TestPublisherHoldsWhatIsRefused(t *testing.T) {
	t.Parallel()
	s, bus := startLimited(t, "seine.other")
	all := s.dial(t, nats.UserInfo("all", "x"))
	if _, err := all.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SOME", Subjects: []string{"seine.some"}}); err != nil {
		t.Fatal(err)
	}
	p := NewPublisher(bus, "test")
	published := make(chan error, 1)
	go func() { published <- p.Publish(t.Context(), &nats.Msg{Subject: "seine.some", Data: []byte("x")}) }()
	await.Eventually(t, "the message is held", func() bool { return p.waiting.Load() > 0 })
	if refused := bus.Refusals.Err(); refused == nil || !strings.Contains(refused.Error(), "publish to seine.some") {
		t.Errorf("it says: %v", refused)
	}
	select {
	case err := <-published:
		t.Fatalf("it is given up: %v", err)
	default:
	}
	s.write(t, "seine.>")
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	stream, err := all.JS.Stream(t.Context(), "SOME")
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d messages are stored", n)
	}
}

// A process whose key is revoked waits, reports it, and continues when the key is accepted again.
func TestUserThatIsShutOutAndLetInAgain(t *testing.T) {
	t.Parallel()
	s, bus := startLimited(t, ">")
	whole, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	reload := func(text string) {
		if err := errors.Join(os.WriteFile(s.config, []byte(text), 0o600), s.Reload()); err != nil {
			t.Fatal(err)
		}
	}
	reload(strings.Replace(string(whole), "user: some", "user: other", 1))
	await.Eventually(t, "the refusal is told", func() bool { return bus.Refusals.Err() != nil })
	if got := bus.Refusals.Err().Error(); !strings.Contains(got, "does not let user some (a password) connect") {
		t.Errorf("it says: %s", got)
	}
	// The client stops after the same refusal twice, unless it is configured not to.
	for range 2 {
		before := time.Now()
		await.Eventually(t, "the client tries again", func() bool {
			refusal, ok := errors.AsType[*PermissionError](bus.Refusals.Err())
			return ok && refusal.at.After(before)
		})
	}
	reload(string(whole))
	await.Eventually(t, "the user is back", func() bool { return bus.NC.IsConnected() && bus.Refusals.Err() == nil })
}
