// Package warcio reads archives with warcio.js, the library of the Webrecorder tools, for tests.
// scripts/warcio installs it.
package warcio

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// File is the content of a WARC file as warcio.js reads it.
type File struct {
	File    string
	Records []Record
	Index   []string // CDXJ lines, in the order of the records
}

// Record is a record whose digests were verified.
type Record struct {
	Type, URL, Date        string
	Status                 int
	Content                string // SHA-256 of the decoded content, in hexadecimal
	Payload                string // payload digest in the record
	RefersTo, RefersToDate string
}

// Read reads and checks WARC files, uncompressed or in gzip. Without the program it fails in CI and
// skips the test elsewhere.
func Read(t testing.TB, files ...string) []File {
	t.Helper()
	dir := home(t)
	script, err := os.ReadFile(filepath.Join(dir, "internal", "testing", "warcio", "check.js"))
	if err != nil {
		t.Fatal(err)
	}
	// Node.js finds the packages of a module in the folders above it.
	at, err := os.CreateTemp(filepath.Join(dir, ".cache", "warcio"), "check-*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(at.Name()) }()
	if _, err := at.Write(script); err != nil {
		t.Fatal(err)
	}
	if err := at.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{at.Name()}, files...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil || said.Len() > 0 {
		t.Fatalf("warcio.js: %v: %s", err, said.String())
	}
	var found []File
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatalf("warcio.js: %v: %.200s", err, out.String())
	}
	return found
}

// home returns the root of the repository if warcio.js is installed in it.
func home(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, err = exec.LookPath("node")
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".cache", "warcio", "installed.json")); err == nil {
			return dir
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no warcio.js: scripts/warcio installs it")
	}
	t.Skip("no warcio.js here: scripts/warcio installs it")
	return ""
}
