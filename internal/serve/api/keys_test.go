package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func begin(t *testing.T, k *keys, file, request string, want error) *answer {
	t.Helper()
	a, err := k.begin(file, request)
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
	return a
}

// A server that was killed during a request does not execute it again, because it may have been
// done.
func TestKeyOfARequestThatWasCutOffIsNotDoneAgain(t *testing.T) {
	dir := t.TempDir()
	k := openKeys(dir)
	file := k.file("a", "/x", "key")
	begin(t, k, file, "r", nil)
	begin(t, k, file, "r", errInFlight)
	k = openKeys(dir)
	begin(t, k, file, "r", errUnknownEnd)
	begin(t, k, file, "other", errOtherRequest)
}

// A request that ended without an answer to keep is executed again; other answers are stored
// completely.
func TestAnswersOfKeys(t *testing.T) {
	dir := t.TempDir()
	k := openKeys(dir)
	file := k.file("a", "/x?y=../../z", "../../key\x00")
	begin(t, k, file, "r", nil)
	if err := k.end(file, nil); err != nil {
		t.Fatal(err)
	}
	if a := begin(t, k, file, "r", nil); a != nil {
		t.Errorf("a request that failed has the answer %+v", a)
	}
	if err := k.end(file, &answer{Request: "r", Status: 201, Body: []byte("made")}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []*keys{k, openKeys(dir)} {
		if a := begin(t, k, file, "r", nil); a == nil || a.Status != 201 || string(a.Body) != "made" {
			t.Errorf("the answer is %+v", a)
		}
	}
	for _, other := range []string{k.file("b", "/x?y=../../z", "../../key\x00"), k.file("a", "/x?y=../../z", "../../key"), k.file("a", "/x", "../../key\x00")} {
		if other == file || filepath.Dir(filepath.Dir(other)) != dir {
			t.Errorf("%s and %s", other, file)
		}
	}
}

// The number of keys of a caller is bounded, and the newest are kept; other callers' keys are not
// affected. Expired keys are removed.
func TestKeysAreBoundedByCaller(t *testing.T) {
	dir := t.TempDir()
	k := openKeys(dir)
	done := func(who string, i int) string {
		file := k.file(who, "/x", fmt.Sprint(i))
		begin(t, k, file, "r", nil)
		if err := k.end(file, &answer{Request: "r", Status: 200}); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i)*time.Second - time.Hour)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		return file
	}
	other, running := done("b", 0), k.file("a", "/x", "running")
	begin(t, k, running, "r", nil)
	if err := os.Chtimes(running, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	var last string
	for i := range maxKeys + 200 {
		last = done("a", i)
	}
	names, err := os.ReadDir(filepath.Dir(last))
	if err != nil || len(names) > maxKeys || len(names) < maxKeys/2 {
		t.Errorf("%d keys of a caller, %v", len(names), err)
	}
	for _, file := range []string{other, running, last} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	past := time.Now().Add(-keysLife)
	if err := os.Chtimes(last, past, past); err != nil {
		t.Fatal(err)
	}
	openKeys(dir)
	if _, err := os.Stat(last); err == nil {
		t.Error("a key that has expired is kept")
	}
}

// Whatever is left in the file of a key, its request is not executed again, and nobody has to
// remove the file.
func TestDamagedKeyIsNotHandledAgain(t *testing.T) {
	whole, err := json.Marshal(&answer{Request: "r", Status: 201})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty": "", "binary": "\x00\xff", "cut": string(whole[:len(whole)-1]), "of another type": `[1]`} {
		t.Run(name, func(t *testing.T) {
			k := openKeys(t.TempDir())
			file := k.file("a", "/x", "key")
			begin(t, k, file, "r", nil)
			if err := k.end(file, &answer{Request: "r", Status: 201}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			begin(t, k, file, "r", errUnknownEnd)
			begin(t, k, k.file("a", "/x", "other"), "r", nil)
			past := time.Now().Add(-keysLife)
			if err := os.Chtimes(file, past, past); err != nil {
				t.Fatal(err)
			}
			begin(t, k, file, "r", nil)
		})
	}
}

// Of several servers on the same folder, one executes the request of a key.
func TestServersShareKeys(t *testing.T) {
	dir := t.TempDir()
	for round := range 20 {
		var handled atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			k := openKeys(dir)
			all.Go(func() {
				if a, err := k.begin(k.file("a", "/x", fmt.Sprint(round)), "r"); err == nil && a == nil {
					handled.Add(1)
				}
			})
		}
		all.Wait()
		if n := handled.Load(); n != 1 {
			t.Errorf("round %d: %d servers handle the request", round, n)
		}
	}
}
