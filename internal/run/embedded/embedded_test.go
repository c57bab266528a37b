package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestStartSaysWhatKeepsTheServerFromIt(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, "jetstream"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		o    Options
		says []string
	}{
		"a port that is taken":           {Options{Dir: t.TempDir(), Host: "127.0.0.1", Port: taken.Addr().(*net.TCPAddr).Port}, []string{"is the port free", "address already in use"}},
		"a directory that is no use":     {Options{Dir: blocked, Host: "127.0.0.1", Port: -1}, []string{blocked, "is the disk full"}},
		"the same where nobody can call": {Options{Dir: blocked, Private: true}, []string{blocked, "is the disk full"}},
	} {
		s, err := Start(tt.o)
		if err == nil {
			s.Stop()
			t.Errorf("%s: it starts", name)
			continue
		}
		for _, w := range tt.says {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want it to say %q", name, err, w)
			}
		}
	}
}

// Messages acknowledged just before the server ends are not redelivered.
func TestStopKeepsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	open := func() (*Server, jetstream.JetStream) {
		t.Helper()
		s, err := Start(Options{Dir: dir, Private: true})
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect("", nats.InProcessServer(s.Server()))
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		return s, js
	}
	s, js := open()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	c, err := js.CreateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: "c", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	const messages = 10
	for range messages {
		if _, err := js.Publish(ctx, "s", nil); err != nil {
			t.Fatal(err)
		}
		m, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := m.DoubleAck(ctx); err != nil {
			t.Fatal(err)
		}
	}
	js.Conn().Close()
	s.Stop()
	s, js = open()
	defer s.Stop()
	defer js.Conn().Close()
	if c, err = js.Consumer(ctx, "S", "c"); err != nil {
		t.Fatal(err)
	}
	if floor := c.CachedInfo().AckFloor.Stream; floor != messages {
		t.Errorf("acknowledged are %d messages, want %d", floor, messages)
	}
}

// The error for a directory in use names its process, also after another process had it.
func TestDirectoryInUseNamesWhoHasIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LOCK"), []byte("process 4194304 on a host that is gone, which has a long name\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Start(Options{Dir: dir, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	_, err = Start(Options{Dir: dir, Private: true})
	want := fmt.Sprintf("(process %d on ", os.Getpid())
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "gone") {
		t.Errorf("%v, want %q", err, want)
	}
}
