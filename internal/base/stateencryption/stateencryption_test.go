package stateencryption

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keyFile creates a key file.
func keyFile(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	check(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

var (
	one   = strings.Repeat("one.", 11) + "\n"
	other = strings.Repeat("other.", 8)
)

func TestKeyOfAState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if k, err := Open(dir, ""); k != nil || err != nil {
		t.Fatalf("without a key: %v, %v", k, err)
	}
	file := keyFile(t, one)
	first, err := Open(dir, file)
	check(t, err)
	for _, name := range []string{"", file} {
		k, err := Open(dir, name)
		if err != nil || k.NATS() != first.NATS() || k.NATS() == "" {
			t.Errorf("%q gives the key %q, %v", name, k.NATS(), err)
		}
	}
	moved := keyFile(t, one)
	check(t, os.Remove(file))
	wants(t, dir, "", file, "if it has moved")
	_, err = Open(dir, moved)
	check(t, err)
	_, err = Open(dir, "")
	check(t, err)
	wants(t, dir, keyFile(t, other), "another key", moved)
	wants(t, dir, keyFile(t, "short"), "5 characters", "openssl")
	check(t, os.WriteFile(filepath.Join(dir, noteName), []byte("x"), 0o600))
	wants(t, dir, moved, "is damaged")
}

// An unencrypted state stays unencrypted: the data on disk would not go away.
func TestStateInTheClearIsNotEncrypted(t *testing.T) {
	for _, part := range []string{"nats", "frontier"} {
		dir := t.TempDir()
		check(t, os.Mkdir(filepath.Join(dir, part), 0o700))
		wants(t, dir, keyFile(t, one), "is not encrypted", "use another --data")
	}
}

func wants(t *testing.T, dir, file string, words ...string) {
	t.Helper()
	_, err := Open(dir, file)
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%q: %v, want %q in it", file, err, w)
		}
	}
}

// An encrypted store works like an unencrypted one, even after a crash, and its files contain no
// plain text.
func TestStoreIsEncrypted(t *testing.T) {
	key, dir := &Key{[]byte(one)}, filepath.Join(t.TempDir(), "store")
	const secret = "https://secret.test/token=17"
	text := func(round, n int) []byte {
		return []byte(fmt.Sprint(secret, "#", n, " in round ", round, strings.Repeat("x", n%5000)))
	}
	const keys, rounds = 3000, 4
	for round := range rounds {
		db := open(t, dir, key.FS(vfs.Default))
		for n := range keys {
			if round > 0 && n%7 == 0 {
				wantValue(t, db, n, text(round-1, n))
			}
			check(t, db.Set(fmt.Append(nil, secret, n), text(round, n), pebble.NoSync))
		}
		if round%2 == 0 {
			check(t, db.Flush())
		}
		check(t, db.Close())
	}
	db := open(t, dir, key.FS(vfs.Default))
	for n := range keys {
		wantValue(t, db, n, text(rounds-1, n))
	}
	check(t, db.Compact(t.Context(), []byte("a"), []byte("z"), false))
	wantValue(t, db, 1, text(rounds-1, 1))
	check(t, db.Close())
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, word := range []string{"secret", "pebble", "xxxxxxxx"} {
			if bytes.Contains(raw, []byte(word)) {
				t.Errorf("%s has %q in it", path, word)
			}
		}
		return err
	}))
	if _, err := pebble.Open(dir, &pebble.Options{FS: (&Key{[]byte(other)}).FS(vfs.Default), Logger: silent{}}); !errors.Is(err, ErrKey) {
		t.Errorf("another key: %v, want %v", err, ErrKey)
	}
}

type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(string, ...any) {}

func open(t testing.TB, dir string, fs vfs.FS) *pebble.DB {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FS: fs, MemTableSize: 256 << 10, Logger: silent{}})
	check(t, err)
	return db
}

func wantValue(t testing.TB, db *pebble.DB, n int, want []byte) {
	t.Helper()
	got, done, err := db.Get(fmt.Append(nil, "https://secret.test/token=17", n))
	check(t, err)
	if !bytes.Equal(got, want) {
		t.Fatalf("key %d is %.60q, want %.60q", n, got, want)
	}
	check(t, done.Close())
}

// A machine that stops at any moment leaves a store that can be opened, with all synced data.
func TestStoreOutlivesAPowerFailure(t *testing.T) {
	key := &Key{[]byte(one)}
	mem := vfs.NewCrashableMem()
	db := open(t, "store", key.FS(mem))
	for n := range 2000 {
		check(t, db.Set(fmt.Append(nil, "https://secret.test/token=17", n), []byte("value"), &pebble.WriteOptions{Sync: n%100 == 0}))
		if n%400 != 0 {
			continue
		}
		for unsynced := 0; unsynced <= 100; unsynced += 50 {
			after := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(uint64(n), uint64(unsynced)))})
			left := open(t, "store", key.FS(after))
			wantValue(t, left, n, []byte("value"))
			check(t, left.Close())
		}
	}
	check(t, db.Close())
}

// Any part of a file is read as written, wherever reads and writes begin and end.
func TestFileIsReadAnywhere(t *testing.T) {
	fs := (&Key{[]byte(one)}).FS(vfs.NewMem())
	want := make([]byte, 5000)
	for i := range want {
		want[i] = byte(i * i / 7)
	}
	f, err := fs.Create("a", vfs.WriteCategoryUnspecified)
	check(t, err)
	for at, n := 0, 1; at < len(want); n++ {
		end := min(len(want), at+n)
		_, err := f.Write(bytes.Clone(want[at:end]))
		check(t, err)
		at = end
	}
	check(t, errors.Join(f.Sync(), f.Close()))
	info, err := fs.Stat("a")
	check(t, err)
	if info.Size() != int64(len(want)) {
		t.Errorf("%d bytes, want %d", info.Size(), len(want))
	}
	f, err = fs.Open("a")
	check(t, err)
	defer f.Close()
	for at := 0; at < len(want); at += 13 {
		for _, n := range []int{1, 15, 16, 17, 200} {
			got := make([]byte, min(n, len(want)-at))
			if _, err := f.ReadAt(got, int64(at)); err != nil || !bytes.Equal(got, want[at:at+len(got)]) {
				t.Fatalf("%d bytes at %d: %x, %v, want %x", n, at, got, err, want[at:at+len(got)])
			}
		}
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read in a row, it is another: %v", err)
	}
}

// If several processes begin a state with different keys, one succeeds; the others are rejected.
func TestOneKeyBeginsAState(t *testing.T) {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "data")
		files := []string{keyFile(t, one), keyFile(t, other)}
		var keys [8]*Key
		var all sync.WaitGroup
		for i := range keys {
			all.Go(func() { keys[i], _ = Open(dir, files[i%2]) })
		}
		all.Wait()
		kept, err := Open(dir, "")
		check(t, err)
		begun := 0
		for _, k := range keys {
			if k == nil {
				continue
			}
			if begun++; k.NATS() != kept.NATS() {
				t.Error("a key is used that is not the one of the state")
			}
		}
		if begun != len(keys)/2 {
			t.Errorf("%d of %d may use the state, want %d", begun, len(keys), len(keys)/2)
		}
	}
}
