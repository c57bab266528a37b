//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"seine/internal/testing/s3server"
)

// inside does everything, in the namespaces that outside has made.
func inside(ctx context.Context, o options, work string) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	// What is mounted here is nobody else's business, and /proc must be of the processes here.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to itself: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := os.Unsetenv(workVariable); err != nil {
		return err
	}
	s3server.SetCredentials()
	if o.Measure {
		return measure(ctx, o, work)
	}
	return breakEverything(ctx, o, work)
}
