package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"seine/bench/supervise"
)

// The clock of a machine cannot be set for one process, and Go programs do not ask the C library for the time. So the
// commands under test, nats-server too, are built with a standard library in which time.Now is ahead by as many nanoseconds
// as a file says. Monotonic readings, and so timers, go on as they do when a real clock is set.

// clockVariable names the file in the environment of a process.
const clockVariable = "SEINE_SOAK_CLOCK"

const clockInTime = `package time

import "sync/atomic"

var soakSkew atomic.Int64

// SoakSkew sets by how many nanoseconds Now is ahead.
func SoakSkew(ns int64) { soakSkew.Store(ns) }

func soakNow(sec int64, nsec int32) (int64, int32) {
	skew := soakSkew.Load()
	n := int64(nsec) + skew%1e9
	sec += skew / 1e9
	if n < 0 {
		return sec - 1, int32(n + 1e9)
	}
	return sec + n/1e9, int32(n % 1e9)
}
`

const clockInOS = `package os

import "time"

func init() {
	if file := Getenv("` + clockVariable + `"); file != "" {
		readSoakClock(file) // before anything else asks for the time
		go followSoakClock(file)
	}
}

func followSoakClock(file string) {
	for ; ; time.Sleep(50 * time.Millisecond) {
		readSoakClock(file)
	}
}

func readSoakClock(file string) {
	text, err := ReadFile(file)
	if err != nil || len(text) == 0 {
		return
	}
	sign, n := int64(1), int64(0)
	for _, c := range text {
		switch {
		case c == '-':
			sign = -1
		case '0' <= c && c <= '9':
			n = n*10 + int64(c-'0')
		}
	}
	time.SoakSkew(sign * n)
}
`

// overlay writes the files that replace those of the standard library, and returns the file for go build -overlay.
func overlay(ctx context.Context, dir string) (string, error) {
	text, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the standard library: %w", err)
	}
	src := filepath.Join(strings.TrimSpace(string(text)), "src")
	clock, err := os.ReadFile(filepath.Join(src, "time", "time.go")) //nolint:gosec // Go's own
	if err != nil {
		return "", fmt.Errorf("read the standard library: %w", err)
	}
	const now = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if bytes.Count(clock, []byte(now)) != 1 {
		return "", errors.New("time.Now of this Go release looks unlike what the soak knows how to set: run it with -clocks=false")
	}
	clock = bytes.Replace(clock, []byte(now), []byte(now+"\tsec, nsec = soakNow(sec, nsec)\n"), 1)
	replace := make(map[string]string)
	for in, content := range map[string]string{
		"time/time.go": string(clock), "time/soak.go": clockInTime, "os/soak.go": clockInOS,
	} {
		file := filepath.Join(dir, strings.ReplaceAll(in, "/", "-")+".txt")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", fmt.Errorf("write the changed standard library: %w", err)
		}
		replace[filepath.Join(src, in)] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode overlay: %w", err)
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}

// clockOf is the file that sets the clock of a process.
func clockOf(p *supervise.Process) string {
	for _, v := range p.Env {
		if file, ok := strings.CutPrefix(v, clockVariable+"="); ok {
			return file
		}
	}
	return ""
}

// setClock sets the clock of a process ahead, or back.
func setClock(p *supervise.Process, ahead time.Duration) error {
	text := strconv.FormatInt(int64(ahead), 10)
	return os.WriteFile(clockOf(p), []byte(text), 0o600)
}
