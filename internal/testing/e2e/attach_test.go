package e2e

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/run/embedded"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A running crawl is inspected through its directory, and only by users who can read it. After the
// crawl has ended or was killed, commands say so.
func TestCommandsFindACrawlByItsDirectory(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 5})
	g := newGate(t, web, "/gate")
	held := strings.TrimSuffix(site.seed, "/") + "/gate"
	p := newWorkspace(t)
	first := p.crawl(site.seed, held)
	g.wait(t)
	context := filepath.Join(p.data, "nats", "context.json")
	for path, want := range map[string]os.FileMode{context: 0o600, filepath.Dir(context): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode().Perm(), err)
		}
	}
	text, err := os.ReadFile(context)
	if err != nil {
		t.Fatal(err)
	}
	var at struct{ URL, Token string }
	if err := json.Unmarshal(text, &at); err != nil || len(at.Token) < 20 {
		t.Fatalf("%s, %v", text, err)
	}
	eventually(t, patience, "say that the page which was fetched first is done", func() (bool, string) {
		out := runSeine(t, "explain", site.seed, "--data", p.data)
		return out.code() == 0 && strings.Contains(out.stdout.String(), "done"), out.said()
	})
	wantOutput(t, runSeine(t, "status", "--nats-context", context), "crawl default")
	if out := runSeine(t, "status", "--nats", at.URL); out.code() != 1 || !strings.Contains(out.stderr.String(), "rejected the credentials") {
		t.Errorf("without the token: %d, %s", out.code(), out.said())
	}
	if out := runSeine(t, "status", "--data", p.data, "--nats", at.URL); out.code() != 2 || !strings.Contains(out.stderr.String(), "--data") {
		t.Errorf("with a server, too: %d, %s", out.code(), out.said())
	}
	if err := os.Chmod(context, 0o644); err != nil {
		t.Fatal(err)
	}
	if out := runSeine(t, "status", "--data", p.data); out.code() != 1 || !strings.Contains(out.stderr.String(), "is not trusted") {
		t.Errorf("a context that others may read: %d, %s", out.code(), out.said())
	}
	first.signal(syscall.SIGKILL)
	<-first.gone
	_ = os.Chmod(context, 0o600)
	// The stored state of a stopped crawl can be inspected, but not watched.
	stored := func(state string) {
		t.Helper()
		for _, args := range [][]string{{"status"}, {"explain", site.seed}, {"hosts"}, {"runs"}, {"dead", "list"}, {"spec", "get"}, {"spec", "list"}} {
			out := runSeine(t, append(args, "--data", p.data)...)
			if out.code() != 0 || out.stderr.String() != "" {
				t.Errorf("%s when no crawl runs: %d, %s", args, out.code(), out.said())
			}
			if args[0] == "status" && (!strings.Contains(out.stdout.String(), "crawl default: "+state) || strings.Contains(out.stdout.String(), "WARNING")) {
				t.Errorf("it should say that the crawl is %s: %s", state, out.stdout)
			}
			if args[len(args)-1] == "list" && args[0] == "spec" && !strings.Contains(out.stdout.String(), " "+state+" ") {
				t.Errorf("it should list a crawl that is %s: %s", state, out.stdout)
			}
			if over := !strings.Contains(out.stdout.String(), "running"); args[0] == "runs" && (!strings.Contains(out.stdout.String(), "1 run") || over != (state == "complete")) {
				t.Errorf("it should have one run of a crawl that is %s: %s", state, out.stdout)
			}
		}
		for _, args := range [][]string{{"status", "--watch"}, {"doctor"}} {
			if out := runSeine(t, append(args, "--data", p.data)...); out.code() != 1 || !strings.Contains(out.stderr.String(), "no crawl is running") {
				t.Errorf("%s when no crawl runs: %d, %s", args, out.code(), out.said())
			}
		}
	}
	stored("stopped")
	second := p.crawl()
	eventually(t, patience, "look into the crawl that goes on", func() (bool, string) {
		out := runSeine(t, "explain", site.seed, "--data", p.data)
		return out.code() == 0, out.said()
	})
	g.open()
	second.expect(0)
	if _, err := os.Stat(context); err == nil {
		t.Error("a crawl that is over still says where it was")
	}
	stored("complete")
	if out := runSeine(t, "status", "--data", filepath.Join(p.data, "other")); out.code() != 1 || !strings.Contains(out.stderr.String(), "no crawl is running") {
		t.Errorf("where no crawl was: %d, %s", out.code(), out.said())
	}
}

// Commands in the folder of a crawl find it without flags.
func TestCommandsFindTheCrawlOfTheirFolder(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 5})
	g := newGate(t, web, "/gate")
	dir := t.TempDir()
	c := seine(t, dir, "crawl", strings.TrimSuffix(site.seed, "/")+"/gate", "--allow-private")
	g.wait(t)
	eventually(t, patience, "say how to look in", func() (bool, string) {
		return strings.Contains(c.stderr.String(), "; to watch it from another terminal: seine status --watch\n"), c.said()
	})
	out := seine(t, dir, "hosts")
	out.expect(0)
	if !strings.Contains(out.stdout.String(), "IN FLIGHT") {
		t.Errorf("hosts says: %s", out.said())
	}
	g.open()
	c.expect(0)
}

// A crawl's ports cannot be reached from other machines.
func TestCrawlListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 5})
	g := newGate(t, web, "/gate")
	c := newWorkspace(t).crawl(strings.TrimSuffix(site.seed, "/") + "/gate")
	g.wait(t)
	listening := listeners(t, c.cmd.Process.Pid)
	g.open()
	c.expect(0)
	if len(listening) == 0 {
		t.Fatal("it listens nowhere, not even its NATS server")
	}
	for _, at := range listening {
		if !at.IsLoopback() {
			t.Errorf("it listens at %s", at)
		}
	}
}

// listeners returns the addresses at which a process accepts connections or datagrams.
func listeners(t *testing.T, pid int) (all []net.IP) {
	t.Helper()
	inodes := make(map[string]bool)
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) == 0 {
		t.Skipf("no /proc here: %v", err)
	}
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && strings.HasPrefix(link, "socket:[") {
			inodes[strings.Trim(link, "socket:[]")] = true
		}
	}
	const listen, unconnected = "0A", "07" // states of TCP and UDP, include/net/tcp_states.h
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue // no IPv6
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > 9 && inodes[f[9]] && (f[3] == listen || f[3] == unconnected) {
				all = append(all, address(t, f[1]))
			}
		}
	}
	return all
}

// address parses the IP of HEX:PORT as the kernel writes it: in words of the machine's byte order,
// which is little-endian wherever these tests run.
func address(t *testing.T, text string) (ip net.IP) {
	t.Helper()
	digits, _, _ := strings.Cut(text, ":")
	for i := 0; i+8 <= len(digits); i += 8 {
		var word uint32
		if _, err := fmt.Sscanf(digits[i:i+8], "%08X", &word); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		ip = append(ip, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	return ip
}

// A complete crawl in one process can use a remote locked-down server. It reports missing
// permissions at once.
func TestCrawlOverALockedServer(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 20})
	c := newLocked(t, messages.DefaultPartitions, nil)
	c.dial("crawl").Close() // waits for the server
	p := newWorkspace(t)
	p.crawl(append(c.as("crawl"), "--warc", filepath.Join(c.dir, "warc"), site.seed)...).expect(0)
	wantPages(t, records(t, p.out, "default"), site.pages)
	other := newWorkspace(t)
	other.out = p.out
	began := time.Now()
	refused := other.crawl(append(c.as("viewer"), site.seed)...)
	refused.expect(1)
	refused.complains("does not let user viewer", "$JS.API.")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it said so after %s", took)
	}
	lone := other.crawl("--nats-nkey", filepath.Join(c.users, "crawl", "user.nk"), site.seed)
	lone.expect(2)
	lone.complains("need --nats or --nats-context")
}

// A crawl that has ended leaves nothing to redeliver, although its process ends without a clean
// shutdown of its server.
func TestCrawlThatIsOverLeavesNothingToDeliver(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	for _, chain := range []string{"--chain", "--no-chain"} {
		p := newWorkspace(t)
		p.crawl(site.seed, chain).expect(0)
		server, err := embedded.Start(embedded.Options{Dir: filepath.Join(p.data, "nats"), Private: true})
		if err != nil {
			t.Fatal(err)
		}
		bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(server.Server()))
		if err != nil {
			t.Fatal(err)
		}
		for stream, durable := range map[string]string{
			messages.StreamSeeds: messages.ConsumerSeeds, messages.StreamFetch: messages.ConsumerFetch, messages.StreamPages: messages.ConsumerParse,
		} {
			c, err := bus.JS.Consumer(t.Context(), stream, durable)
			if err != nil {
				t.Fatal(err)
			}
			if left := c.CachedInfo(); left.NumPending+uint64(left.NumAckPending) > 0 {
				t.Errorf("%s: %s has %d messages to come, %d not acknowledged", chain, durable, left.NumPending, left.NumAckPending)
			}
		}
		bus.Close()
		server.Stop()
	}
}
