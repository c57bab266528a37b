package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"seine/bench/proc"
)

// child is another process of this program, which answers a line with a line. It ends when its standard input does, so
// it never outlives the bench.
type child struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *json.Decoder
}

// startChild starts this program as another process.
func startChild(ctx context.Context, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, args...) //nolint:gosec // this program
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the bench
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return &child{cmd: cmd, stdin: stdin, answers: json.NewDecoder(stdout)}, nil
}

// ask sends a number, and decodes the answer into v.
func (c *child) ask(n int, v any) error {
	if _, err := fmt.Fprintln(c.stdin, n); err != nil {
		return fmt.Errorf("ask %s: %w", c.cmd.Args[1], err)
	}
	if err := c.answers.Decode(v); err != nil {
		return fmt.Errorf("ask %s: %w", c.cmd.Args[1], err)
	}
	return nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// close ends the process.
func (c *child) close() {
	_ = c.stdin.Close()
	kill := time.AfterFunc(10*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	_ = c.cmd.Wait()
}

// answerLines is the other end of child: do is given each number that comes, until standard input ends.
func answerLines(do func(n int) (any, error)) error {
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var n int
		if _, err := fmt.Sscan(in.Text(), &n); err != nil {
			return fmt.Errorf("read %q: %w", in.Text(), err)
		}
		v, err := do(n)
		if err != nil {
			return err
		}
		if err := out.Encode(v); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	return nil
}

// costs of a child until now, in seconds of CPU.
func (c *child) costs() (float64, error) { return proc.CPU(c.pid()) }
