package childproc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"seine/internal/testing/await"
)

// role is the variable that makes this program the parent that is killed, or its child.
const role = "SEINE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "parent":
		parent()
	case "child":
		in := bufio.NewReader(os.Stdin)
		for { // until the test ends
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
			fmt.Println("here")
		}
	default:
		os.Exit(m.Run())
	}
}

// The first thread of a process does not end before the process: the main goroutine keeps it.
func init() {
	if os.Getenv(role) == "parent" {
		runtime.LockOSThread()
	}
}

// parent starts a child from a thread that ends, and prints when it has.
func parent() {
	thread := make(chan string, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=child")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		if err := Start(child); err != nil {
			fmt.Println(err)
		}
		thread <- fmt.Sprint("/proc/self/task/", syscall.Gettid())
	}()
	for at := <-thread; ; runtime.Gosched() {
		if _, err := os.Stat(at); err != nil {
			break
		}
	}
	fmt.Println("ready")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
}

// A killed process takes its children with it; the end of one of its threads does not.
func TestChildrenEndWithTheirParent(t *testing.T) {
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer hold.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stdin = append(os.Environ(), role+"=parent"), in
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = out.(*os.File).SetReadDeadline(time.Now().Add(await.Patience))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the parent says %q, %v", line, err)
	}
	if _, err := hold.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); line != "here\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil { // until both have closed the pipe
		t.Errorf("the child stays: %v", err)
	}
}
