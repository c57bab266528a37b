package connect

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"seine/internal/natstest"
)

// A crawl that was killed and goes on has another port and another token. Who looked into it looks on.
func TestWhoLooksIntoACrawlFollowsItToItsNextServer(t *testing.T) {
	data := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(data, "nats"), 0o700))
	begin := func(token string) (url string, kill func()) {
		o := natstest.Listening(t)
		o.Authorization = token
		s := natstest.Start(t, o)
		check(t, WriteLocal(data, s.ClientURL(), token))
		return s.ClientURL(), func() { s.Shutdown(); s.WaitForShutdown() }
	}
	_, kill := begin("one")
	o := Operator{Data: data}
	bus, err := o.Dial("test", slog.New(slog.DiscardHandler))
	check(t, err)
	defer bus.Close()
	check(t, bus.NC.Flush())
	reconnected := bus.NC.StatusChanged()
	kill()
	began := time.Now()
	for bus.NC.IsConnected() && time.Since(began) < 20*time.Second {
		time.Sleep(time.Millisecond)
	}
	begin("two")
	for !bus.NC.IsConnected() {
		select {
		case <-reconnected:
		case <-time.After(20 * time.Second):
			t.Fatal("it does not find the crawl's next server")
		}
	}
	check(t, bus.NC.FlushTimeout(10*time.Second))
}
