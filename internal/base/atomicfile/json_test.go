package atomicfile

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type named struct{ Name string }

// A damaged file is renamed and logged once, one that cannot be opened keeps its name, and neither
// hides the others.
func TestReadAllJSONSkipsDamagedFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b*")
	if err := os.MkdirAll(filepath.Join(dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "z"} {
		if err := WriteJSON(filepath.Join(dir, name+JSON), named{name}); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"empty.json": "", "cut.json": `{"Name":"c`, "other.json": `{"Name":"a"}`, "note.txt": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, round := range []struct {
		rename bool
		logged int
	}{{false, 0}, {true, 4}, {true, 1}} {
		var log bytes.Buffer
		all, err := ReadAllJSON(dir, round.rename, slog.New(slog.NewTextHandler(&log, nil)), func(name string, v *named) bool { return v.Name == name })
		if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Name != "z" {
			t.Errorf("%+v: got %v, %v", round, all, err)
		}
		if n := strings.Count(log.String(), "\n"); n != round.logged {
			t.Errorf("%+v: logged\n%s", round, log.String())
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"a.json", "cut.json" + Aside, "empty.json" + Aside, "folder.json", "note.txt", "other.json" + Aside, "z.json"}
	if !slices.Equal(names, want) {
		t.Errorf("the folder has %v, want %v", names, want)
	}
}
