package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/stateencryption"
	"seine/internal/frontier/state"
	"seine/internal/run/connect"
	"seine/internal/run/embedded"
	"seine/pkg/stages"
)

// dialer opens a connection that logs to log.
type dialer func(log *slog.Logger) (*stages.Bus, error)

// connectOrEmbed starts the embedded server; with an external server it returns a nil server. dial
// connects to the server.
func connectOrEmbed(ctx context.Context, o *Options, key *stateencryption.Key) (dial dialer, s *embedded.Server, err error) {
	if o.NATS.Given() {
		return func(log *slog.Logger) (*stages.Bus, error) { return o.NATS.Dial("seine-crawl", log) }, nil, nil
	}
	host, port, err := splitListen(o.Listen)
	if err != nil {
		return nil, nil, err
	}
	token := embedded.NewToken()
	s, err = startServer(ctx, o.Data, embedded.Options{
		Dir: filepath.Join(o.Data, "nats"), Host: host, Port: port, SyncAlways: o.Sync == state.SyncAlways, Token: token, Key: key.NATS(),
	})
	if errors.Is(err, embedded.ErrInUse) && connect.HasLocal(o.Data) {
		err = fmt.Errorf("%w: change the crawl that runs there with seine spec apply FILE --data %s (seine seed adds URLs, seine status shows it), or start another crawl with another --data", err, o.Data)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := connect.WriteLocal(o.Data, s.URL(), token); err != nil {
		s.Stop()
		return nil, nil, err
	}
	dial = func(log *slog.Logger) (*stages.Bus, error) {
		bus, err := stages.Dial("", "seine-crawl", log, nats.InProcessServer(s.Server()), nats.Token(token), nats.PingInterval(embeddedCheckEvery))
		if err == nil {
			bus.CheckEvery = embeddedCheckEvery
		}
		return bus, err
	}
	return dial, s, nil
}

// embeddedCheckEvery is the interval of health checks of the embedded server and its configuration.
// It is long, because this process starts and stops the server.
const embeddedCheckEvery = time.Minute

// CheckListen validates an address for Options.Listen.
func CheckListen(listen string) error {
	_, _, err := splitListen(listen)
	return err
}

func splitListen(listen string) (string, int, error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %q: must be HOST:PORT, such as 127.0.0.1:4222; port 0 for any", listen)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %q: the port must be a number", listen)
	}
	if port == 0 {
		return host, -1, nil // -1 is the server's value for any free port
	}
	return host, int(port), nil
}

// connection opens a connection for a stage.
func (c *crawl) connection(stage string) (*stages.Bus, error) {
	bus, err := c.dial(c.Log.With("stage", stage))
	if err == nil {
		bus.Tracer = c.Tracer
		c.buses = append(c.buses, bus)
	}
	return bus, err
}

// storeAcks makes the server persist its acknowledgements. If that takes over a second, the server
// is shut down in order instead.
func storeAcks(bus *stages.Bus) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return bus.StoreAcks(ctx)
}

// stopServer shuts the embedded server down. If the server has persisted everything, it leaves it
// to the exit of the process.
func (c *crawl) stopServer() {
	if !c.acksStored || !c.server.CanBeLeft() {
		c.server.Stop()
	}
}
