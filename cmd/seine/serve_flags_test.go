package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An invalid flag of the server is reported before it listens, by the name of the flag, and leaves
// nothing behind.
func TestWrongFlagsOfTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	for args, want := range map[string]string{
		"--out ftp://example.org/out": "--out ftp://…: unsupported output",
		"--out -":                     "--out -: Seine does not write to standard output",
		"--replayed " + file:          "--replayed " + file + ": is a file",
		"--host http://example.org":   `--host "http://example.org": must be a name alone`,
		"--host example.org:443":      `--host "example.org:443": must be a name alone`,
	} {
		code, _, stderr := seine(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s ends with %d: %s; want %d, and %q", args, code, stderr, exitUsage, want)
		}
	}
	for flag, want := range map[string]string{"--data": "--data: ", "--state": "--state: "} {
		if code, _, stderr := seine(t, "serve", "--listen", "127.0.0.1:0", flag, file); code == exitOK || !strings.Contains(stderr, want) {
			t.Errorf("%s FILE ends with %d: %s; want %q", flag, code, stderr, want)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("they leave %v, %v", left, err)
	}
}
