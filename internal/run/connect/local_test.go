package connect

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/natstest"
)

// A crawl that was killed and resumes has another port and token. A client that inspects it
// follows.
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

// If the stored crawl does not run, commands do not fall back to a server at the default address:
// they could change another crawl with the same name.
func TestStoredCrawlGoesBeforeTheUsualServer(t *testing.T) {
	t.Chdir(t.TempDir())
	var o Operator
	if _, err := o.Dial("test", slog.New(slog.DiscardHandler)); err != nil && (!strings.HasPrefix(err.Error(), "no crawl in "+DefaultData) ||
		!strings.Contains(err.Error(), Default) || !strings.Contains(err.Error(), "--data") || !strings.Contains(err.Error(), "--nats")) {
		t.Errorf("with no crawl here, and no usual server: %v", err)
	}
	check(t, os.MkdirAll(filepath.Join(DefaultData, "nats", "jetstream", "$G", "streams", "SEEDS"), 0o700))
	_, err := o.Dial("test", slog.New(slog.DiscardHandler))
	if !errors.Is(err, ErrNoCrawl) || strings.Contains(err.Error(), "connect to NATS") || !strings.Contains(err.Error(), "--nats names a server") {
		t.Errorf("with a crawl that does not run: %v", err)
	}
	if o.Stored() != DefaultData {
		t.Errorf("%q is opened", o.Stored())
	}
}
