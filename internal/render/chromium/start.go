package chromium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"

	"seine/internal/base/childproc"
	"seine/internal/render/devtools"
)

// Options configure a browser.
type Options struct {
	Path string // of the executable (Find)
	Dir  string // parent of its directory; "" is the system's directory for temporary files
	SPKI string // hash of the key whose certificates it trusts (pageproxy.Identity)
	// Heard receives the events of the browser itself; it may be nil.
	Heard func(event any)
}

// Browser is a running Chromium.
type Browser struct {
	*devtools.Conn
	cmd     *exec.Cmd
	profile *profile
	errors  *tail
	ended   chan struct{} // closed when the process has ended
	once    sync.Once
}

// startTime is how long a browser may take for its first response. On a busy machine with two cores
// it takes seconds.
const startTime = time.Minute

// Start starts a browser, which runs until Close, or until it ends by itself (Done).
func Start(ctx context.Context, o Options) (*Browser, error) {
	as := otherUser()
	p, err := newProfile(o.Dir, as)
	if err != nil {
		return nil, err
	}
	b := &Browser{profile: p, errors: new(tail), ended: make(chan struct{})}
	if err := b.start(&o, as); err != nil {
		p.remove()
		if as != nil && errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("start the browser: %w: since this process is root, the browser runs as the user %d, who must be able to run %s and to reach %s", err, as.uid, o.Path, filepath.Dir(p.dir))
		}
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if _, _, _, _, _, err := browser.GetVersion().Do(cdp.WithExecutor(ctx, b)); err != nil {
		b.Close()
		return nil, fmt.Errorf("start the browser %s: %w%s", o.Path, err, b.errors.said())
	}
	return b, nil
}

// start starts the process.
func (b *Browser) start(o *Options, as *user) error {
	commandsRead, commands, err := os.Pipe()
	if err != nil {
		return err
	}
	answers, answersWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, commandsRead.Close(), commands.Close())
	}
	b.cmd = exec.Command(o.Path, append(o.flags(b.profile.dir), "about:blank")...) //nolint:gosec // the user chooses the path
	b.cmd.Dir, b.cmd.Env = b.profile.dir, environment(b.profile.dir)
	b.cmd.ExtraFiles = []*os.File{commandsRead, answersWrite} // descriptors 3 and 4, as required by --remote-debugging-pipe
	b.cmd.Stderr = b.errors
	b.cmd.WaitDelay = time.Second // its child processes hold the pipe of its messages too
	runAs(b.cmd, as)
	err = childproc.Start(b.cmd)
	_, _ = commandsRead.Close(), answersWrite.Close()
	if err != nil {
		return errors.Join(err, commands.Close(), answers.Close())
	}
	go func() {
		defer close(b.ended)
		_ = b.cmd.Wait()
	}()
	b.Conn = devtools.Open(&pipes{answers, commands}, o.Heard)
	return nil
}

// environment returns the environment of the browser, without this process's secrets.
func environment(home string) []string {
	env := []string{"HOME=" + home, "TMPDIR=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home, "DBUS_SESSION_BUS_ADDRESS=disabled:"}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// ID returns the process ID of the browser.
func (b *Browser) ID() int { return b.cmd.Process.Pid }

// closeTime is how long a browser may take to end by itself.
const closeTime = 2 * time.Second

// Close ends the browser and all its processes, and removes its directory.
func (b *Browser) Close() {
	b.once.Do(func() {
		b.Conn.Close()
		select {
		case <-b.ended:
		case <-time.After(closeTime):
		}
		killGroup(b.cmd)
		<-b.ended
		b.profile.remove()
	})
}

// pipes are the two pipes for communication with a browser.
type pipes struct {
	io.ReadCloser
	commands io.WriteCloser
}

func (p *pipes) Write(b []byte) (int, error) { return p.commands.Write(b) }
func (p *pipes) Close() error                { return errors.Join(p.commands.Close(), p.ReadCloser.Close()) }

// tail keeps the end of the browser's standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(b), nil
}

// said returns the last output of the browser, for an error message.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return ""
	}
	return "; it wrote: " + text
}
