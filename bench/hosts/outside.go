//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"seine/bench/proc"
	"seine/internal/base/childproc"
	"seine/internal/base/filelock"
	"seine/pkg/messages"
)

// workVariable names the work folder in the environment of the process that is inside.
const workVariable = "SEINE_HOSTS_WORK"

// errTold is returned when the reason was printed already.
var errTold = errors.New("failed")

// commands are what is under test.
var commands = []string{messages.StageFrontier, messages.StageFetcher, messages.StageParser, messages.StageWriter}

// outside builds the commands, and starts this program again in namespaces of its own, where it does the rest.
func outside(ctx context.Context, o options) error {
	s3, err := prerequisites()
	if err != nil {
		return err
	}
	sweep(o.Dir)
	work, err := proc.WorkFolder(name, o.Dir)
	if err != nil {
		return err
	}
	lock, err := filelock.Take(filepath.Join(work, lockFile))
	if err != nil {
		return fmt.Errorf("lock the work folder: %w", err)
	}
	defer func() { _ = lock.Close() }()
	fmt.Printf("seed %d, logs and states in %s\n", o.Seed, work)
	bin, err := proc.BuildWith(ctx, work, []string{"-trimpath"}, commands...)
	if err == nil {
		err = os.Symlink(s3, filepath.Join(bin, s3Server))
	}
	if err == nil {
		err = again(ctx, o, work)
	}
	if o.Keep || err != nil && ctx.Err() == nil {
		fmt.Println("kept:", work)
		return errors.Join(err, os.WriteFile(filepath.Join(work, keptFile), nil, 0o600))
	}
	return errors.Join(err, os.RemoveAll(work))
}

// prerequisites says what is missing here, and where the S3 server is.
func prerequisites() (s3 string, err error) {
	if os.Geteuid() != 0 {
		return "", errors.New("it needs root, to make network namespaces: sudo make hosts")
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return "", fmt.Errorf("it needs the interfaces of Linux in user space: %w (in a container: --device /dev/net/tun --cap-add ALL)", err)
	}
	s3, err = filepath.Abs(filepath.Join("..", ".cache", "bin", s3Server))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(s3); err != nil {
		return "", errors.New("no S3 server: scripts/versitygw builds it")
	}
	return s3, nil
}

const (
	name     = "hosts"
	lockFile = "LOCK" // in the work folder, locked while it is in use
	keptFile = "KEPT" // in one that is to be looked at
)

// sweep removes the work folders of runs that were killed: nobody has their locks.
func sweep(parent string) {
	folders, _ := filepath.Glob(filepath.Join(parent, "seine-"+name+"-*"))
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, keptFile)); err == nil {
			continue
		}
		lock, err := filelock.Take(filepath.Join(folder, lockFile))
		if err != nil {
			continue
		}
		if err := os.RemoveAll(folder); err == nil {
			fmt.Println("removed what a run that was killed has left:", folder)
		}
		_ = lock.Close()
	}
}

// again runs this program in namespaces that end with it: of processes, so that nothing it has started outlives it, of mounts, for
// its own /proc, and of the network.
func again(ctx context.Context, o options, work string) error {
	cmd := exec.Command("/proc/self/exe", o.arguments()...) //nolint:gosec // told to end below
	cmd.Args = append(cmd.Args, "-only="+o.Only)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), workVariable+"="+work)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Setpgid:    true, // an interrupt is for this process, which passes it on
	}
	if err := childproc.Start(cmd); err != nil {
		return fmt.Errorf("start in namespaces (in a container it needs more rights: --cap-add ALL): %w", err)
	}
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		failed = cmd.Wait()
	}()
	select {
	case <-ended:
		return told(failed)
	case <-ctx.Done():
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
	}
	return ctx.Err() // an interrupt
}

// told is for a process that has said itself what was wrong.
func told(err error) error {
	if err != nil {
		return errTold
	}
	return nil
}
