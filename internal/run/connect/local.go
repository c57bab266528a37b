package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/atomicfile"
	"seine/pkg/stages"
)

// DefaultData is the default state directory of `seine crawl`.
const DefaultData = "./seine-data"

// localFile is relative to a crawl's --data. The nats CLI can read it, too.
const localFile = "nats/context.json"

// WriteLocal writes the URL and the token of the embedded server into the directory of a crawl.
// Only the owner of the crawl can read the file.
func WriteLocal(data, url, token string) error {
	context := map[string]string{"description": "a crawl of Seine", "url": url, "token": token}
	if err := atomicfile.WriteJSON(filepath.Join(data, localFile), context); err != nil {
		return fmt.Errorf("leave word of the crawl: %w", err)
	}
	return nil
}

// HasLocal reports whether a crawl runs in a directory or was killed there.
func HasLocal(data string) bool {
	_, err := os.Stat(filepath.Join(data, localFile))
	return err == nil
}

// LocalChanged returns when a crawl last began or ended in a directory, the zero time if none has.
func LocalChanged(data string) time.Time {
	info, err := os.Stat(filepath.Join(data, filepath.Dir(localFile)))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// RemoveLocal removes the file of WriteLocal when the crawl ends.
func RemoveLocal(data string) { _ = os.Remove(filepath.Join(data, localFile)) }

// ErrNoCrawl is returned if no crawl runs in a directory.
var ErrNoCrawl = errors.New("no crawl is running there")

// Operator is the connection options of commands that inspect or control crawls. In addition to a
// server, they can name the directory of a `seine crawl`.
type Operator struct {
	Options `embed:""`
	Data    string `name:"data" help:"Directory of a seine crawl, running or not (default ./seine-data if it exists and no server is given)." placeholder:"DIR"`
}

// Validate returns an error that names the invalid option and the valid values.
func (o *Operator) Validate() error {
	if o.Data != "" && o.Options != (Options{}) {
		return errors.New("--data has the server and the token: leave out --nats and the other --nats-… flags")
	}
	return o.Options.Validate()
}

// Dial connects to the server; name is the name of the client.
func (o *Operator) Dial(name string, log *slog.Logger) (*stages.Bus, error) {
	if o.Data != "" {
		return dialLocal(o.Data, name, log)
	}
	if o.Options != (Options{}) {
		return o.Options.Dial(name, log)
	}
	if HasStreams(DefaultData) || HasLocal(DefaultData) {
		// The default directory is meant, whether its crawl runs or not. A server at the default
		// address may have a different crawl of the same name.
		bus, err := dialLocal(DefaultData, name, log)
		if errors.Is(err, ErrNoCrawl) {
			err = fmt.Errorf("%w; --nats names a server, as %s", err, Default)
		}
		return bus, err
	}
	bus, err := o.Options.Dial(name, log)
	if errors.Is(err, nats.ErrNoServers) {
		return nil, fmt.Errorf("no crawl in %s, and no NATS server at %s: name the directory of a crawl by --data, or a server by --nats", DefaultData, Default)
	}
	if err != nil {
		return nil, fmt.Errorf("no crawl in %s (--data names another directory): %w", DefaultData, err)
	}
	return bus, nil
}

// HasStreams reports whether a directory has the streams of a `seine crawl`, running or not.
func HasStreams(data string) bool {
	streams, _ := filepath.Glob(filepath.Join(data, "nats", "jetstream", "*", "streams", "*"))
	return len(streams) > 0
}

// Stored returns the directory of a crawl that does not run, after Dial has returned ErrNoCrawl. It
// returns "" if there is none.
func (o *Operator) Stored() string {
	if o.Options != (Options{}) {
		return ""
	}
	data := cmp.Or(o.Data, DefaultData)
	if !HasStreams(data) {
		return ""
	}
	return data
}

func dialLocal(data, name string, log *slog.Logger) (*stages.Bus, error) {
	w := localCredentials(filepath.Join(data, localFile))
	at, err := w.read()
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(data); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--data %s: %w: no such directory", data, ErrNoCrawl)
		}
		return nil, fmt.Errorf("--data %s: %w (if it uses --nats, give the same --nats)", data, ErrNoCrawl)
	}
	if err != nil {
		return nil, err
	}
	bus, err := stages.Dial(at.NATS, name, log, nats.SetCustomDialer(w), nats.TokenHandler(w.token))
	if err != nil { // the crawl was killed before it could remove the file
		return nil, fmt.Errorf("--data %s: %w any more: its streams were at %s (the same seine crawl command resumes it)", data, ErrNoCrawl, at.NATS)
	}
	return bus, nil
}

// localCredentials is the file in which a crawl publishes the address of its server. A crawl that
// is killed and resumed has a new port and token, so operator commands read the file at each
// connection.
type localCredentials string

// Dial connects to the crawl's current address and ignores the given one.
func (w localCredentials) Dial(network, _ string) (net.Conn, error) {
	at, err := w.read()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(at.NATS)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", string(w), err)
	}
	return net.DialTimeout(network, u.Host, dialTime)
}

// token returns the current token of the server.
func (w localCredentials) token() string {
	at, err := w.read()
	if err != nil {
		return ""
	}
	return at.token
}

func (w localCredentials) read() (*Options, error) {
	if err := private(string(w)); err != nil {
		return nil, err
	}
	return ReadContext(string(w))
}

// dialTime bounds a connection attempt on the same machine.
const dialTime = 2 * time.Second
