package chromium_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"seine/internal/base/childproc"
	"seine/internal/render/chromium"
	"seine/internal/render/devtools"
	"seine/internal/testing/await"
	"seine/internal/testing/browser"
)

func TestBrowserRunsScriptsAndLeavesNothing(t *testing.T) {
	path, dir := browser.Path(t), browser.Folder(t)
	b, err := chromium.Start(t.Context(), chromium.Options{Path: path, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if text, err := evaluate(t.Context(), b, "'one' + 'two'"); err != nil || text != `"onetwo"` {
		t.Errorf("%s, %v", text, err)
	}
	if n := len(browser.Processes(dir)); n < 2 {
		t.Errorf("it has %d processes", n)
	}
	b.Close()
	await.Eventually(t, "its processes have ended", func() bool { return len(browser.Processes(dir)) == 0 })
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	if _, err := evaluate(t.Context(), b, "1"); !errors.Is(err, devtools.ErrClosed) {
		t.Errorf("a command to a browser that was closed: %v", err)
	}
}

func evaluate(ctx context.Context, b *chromium.Browser, script string) (string, error) {
	id, err := target.CreateTarget("about:blank").Do(cdp.WithExecutor(ctx, b))
	if err != nil {
		return "", err
	}
	tab, err := b.Attach(ctx, id, nil)
	if err != nil {
		return "", err
	}
	value, _, err := runtime.Evaluate(script).Do(cdp.WithExecutor(ctx, tab))
	if err != nil {
		return "", err
	}
	return string(value.Value), nil
}

func TestBrowserThatIsKilledEndsItsConnection(t *testing.T) {
	b, err := chromium.Start(t.Context(), chromium.Options{Path: browser.Path(t), Dir: browser.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_ = syscall.Kill(-b.ID(), syscall.SIGKILL)
	<-b.Done()
	if _, err := evaluate(t.Context(), b, "1"); !errors.Is(err, devtools.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// The browser of a process that is killed with SIGKILL ends with it, and the next process removes
// its directory.
func TestNothingIsLeftBehindAKilledProcess(t *testing.T) {
	path, dir := browser.Path(t), browser.Folder(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "TestHelperProcess")
	cmd.Env = append(os.Environ(), "SEINE_BROWSER_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := childproc.Start(cmd); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, notID := strconv.Atoi(strings.TrimSpace(line)); err != nil || notID != nil {
		t.Fatalf("it says %q, %v", line, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await.Eventually(t, "the browser of a killed process has ended", func() bool { return len(browser.Processes(dir)) == 0 })
	b, err := chromium.Start(t.Context(), chromium.Options{Path: path, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("after the next start and end there are %v", left)
	}
}

// TestHelperProcess is the process that is killed.
func TestHelperProcess(t *testing.T) {
	dir := os.Getenv("SEINE_BROWSER_DIR")
	if dir == "" {
		t.Skip("it is for TestNothingIsLeftBehindAKilledProcess")
	}
	b, err := chromium.Start(t.Context(), chromium.Options{Path: browser.Path(t), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(b.ID()) + "\n")
	select {}
}

// Chromium needs a socket in its directory, and ends without it.
func TestFolderThatIsTooLongIsTold(t *testing.T) {
	parent := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := chromium.Start(t.Context(), chromium.Options{Path: browser.Path(t), Dir: parent})
	if err == nil || !strings.Contains(err.Error(), "shorter path") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}

func TestWhoHasNoBrowserIsToldHowToGetOne(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := chromium.Find(""); !errors.Is(err, chromium.ErrNone) || !strings.Contains(err.Error(), "apt-get install chromium") {
		t.Error(err)
	}
	if _, err := chromium.Find("/no/such/browser"); err == nil || !strings.Contains(err.Error(), "/no/such/browser") {
		t.Error(err)
	}
}
