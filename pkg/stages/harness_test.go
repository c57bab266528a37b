package stages

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; a passing test needs far less.
const patience = 2 * time.Minute

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// always checks that ok holds for d, where what must not happen has no event
// that says so.
func always(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(d); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if !ok() {
			t.Fatalf("did not hold: %s", what)
		}
	}
}

// broker is a NATS server of a test, which can be stopped and started again.
type broker struct {
	t    *testing.T
	opts server.Options
	srv  *server.Server
}

func newBroker(t *testing.T, edit ...func(*server.Options)) *broker {
	t.Helper()
	b := &broker{t: t, opts: *natstest.Listening(t)}
	for _, e := range edit {
		e(&b.opts)
	}
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	opts := b.opts
	s, err := server.NewServer(&opts)
	if err != nil {
		b.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		b.t.Fatal("server does not start")
	}
	b.opts.Port = s.Addr().(*net.TCPAddr).Port
	b.srv = s
}

func (b *broker) stop() {
	b.srv.Shutdown()
	b.srv.WaitForShutdown()
}

func (b *broker) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", b.opts.Port) }

// logBuffer is a log that a test can read.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *logBuffer) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

func (j *logBuffer) has(s string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.buf.String(), s)
}

func (j *logBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func (j *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// dial connects a Bus of the test, and shows its log if the test fails.
func dial(t *testing.T, url string) (*Bus, *logBuffer) {
	t.Helper()
	j := new(logBuffer)
	b, err := Dial(url, t.Name(), j.logger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		if t.Failed() {
			t.Logf("log:\n%s", j)
		}
	})
	return b, j
}

// open starts a broker with the streams of Seine, four partitions.
func open(t *testing.T) (*broker, *Bus) {
	t.Helper()
	br := newBroker(t)
	b, _ := dial(t, br.url())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	return br, b
}

// limit makes a stream of Seine hold n messages at most.
func limit(t *testing.T, b *Bus, stream string, n int64) {
	t.Helper()
	s := streamOf(t, b, stream)
	c := s.CachedInfo().Config
	c.MaxMsgs = n
	if _, err := b.JS.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func streamOf(t *testing.T, b *Bus, name string) jetstream.Stream {
	t.Helper()
	s, err := b.JS.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func state(t *testing.T, b *Bus, stream string) jetstream.StreamState {
	t.Helper()
	return streamOf(t, b, stream).CachedInfo().State
}

func consumerInfo(t *testing.T, b *Bus, stream, name string) *jetstream.ConsumerInfo {
	t.Helper()
	c, err := b.JS.Consumer(t.Context(), stream, name)
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo()
}

// stored returns the payloads that a stream holds, oldest first.
func stored(t *testing.T, b *Bus, stream string) []string {
	t.Helper()
	s := streamOf(t, b, stream)
	st := s.CachedInfo().State
	var all []string
	for seq := st.FirstSeq; seq <= st.LastSeq && st.Msgs > 0; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(m.Data))
	}
	return all
}

func msg(subject, id, data string) *nats.Msg {
	m := nats.NewMsg(subject)
	if id != "" {
		m.Header.Set(nats.MsgIdHdr, id)
	}
	m.Data = []byte(data)
	return m
}

// send publishes n messages with the payloads "0", "1", … to subject.
func send(t *testing.T, b *Bus, subject string, n int) {
	t.Helper()
	for i := range n {
		if _, err := b.JS.Publish(t.Context(), subject, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// job is something that runs until it is stopped.
type job struct {
	t    *testing.T
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// start runs f in the background; the test ends it.
func start(t *testing.T, f func(context.Context) error) *job {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	j := &job{t: t, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(j.done)
		j.err = f(ctx)
	}()
	t.Cleanup(func() { stop(); _ = j.wait() })
	return j
}

// wait returns what the job returned.
func (j *job) wait() error {
	j.t.Helper()
	select {
	case <-j.done:
		return j.err
	case <-time.After(patience):
		j.t.Error("does not end")
		return nil
	}
}

func (j *job) end() error { j.stop(); return j.wait() }

// proxy is a TCP connection between a client and a broker that can lose what
// either sends, as a network does that breaks.
type proxy struct {
	net.Listener
	to      string
	swallow atomic.Bool
	mu      sync.Mutex
	conns   []net.Conn
	wg      sync.WaitGroup
}

func newProxy(t *testing.T, br *broker) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: strings.TrimPrefix(br.url(), "nats://")}
	p.wg.Go(p.accept)
	t.Cleanup(func() { l.Close(); p.cut(); p.wg.Wait() })
	return p
}

func (p *proxy) url() string { return "nats://" + p.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.Accept()
		if err != nil {
			return
		}
		broker, err := net.Dial("tcp", p.to)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, broker)
		p.mu.Unlock()
		p.wg.Go(func() { p.forward(broker, client) })
		p.wg.Go(func() { p.forward(client, broker) })
	}
}

func (p *proxy) forward(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if p.swallow.Load() {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cut breaks every connection, and lets the next ones work.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow.Store(false)
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
