package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/dir"
	"seine/internal/output/format"
)

// verify reports unreadable objects as problems and continues: a file, a directory, an entry of the
// log.
func TestVerifyReportsWhatCannotBeRead(t *testing.T) {
	out := committed(t)
	chunk := filepath.Join(out, "c", "page", "part-000-20261121T010203Z-000000000001.jsonl.gz")
	entry := filepath.Join(out, "_commits", "default", "part-000-20261121T010203Z-000000000011.json")
	for _, name := range []string{chunk, entry} { // a directory cannot be read as a file, even by root
		if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "c", "stray"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, exitFailed, []string{"verify", out}, "unreadable c/page/part-000-20261121T010203Z-000000000001.jsonl.gz: ",
		"unreadable part-000-20261121T010203Z-000000000011: ", "surplus    c/stray: no readable entry of the commit log lists it",
		"1 file, 2 records", "in 2 commits: 3 wrong")
}

// key creates an age key, and returns its recipient and the file with its private key.
func key(t *testing.T) (recipient, file string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id.Recipient().String(), write(t, "key.txt", id.String()+"\n")
}

// committed creates an output with two commits of the crawl "c", with two records each.
func committed(t *testing.T, recipients ...string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	sink, err := dir.Open(out, "default", slog.New(slog.DiscardHandler), nil)
	must(err)
	to, err := ageencrypt.ParseRecipients(recipients)
	must(err)
	f, _ := format.New("jsonl.gz", format.Options{})
	if to.Any() {
		f = format.Encrypted(f, to)
	}
	created := time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC)
	p, _, err := sink.OpenPartition(0, created)
	must(err)
	for _, first := range []uint64{1, 11} {
		c := &output.Commit{Created: created, FirstSeq: first, LastSeq: first + 9, Stored: created, Visits: make([]byte, 2*output.IdentitySize)}
		chunk, err := p.Create(c.Name(), output.Group{Crawl: "c", Dir: "c/page"}, f.Ext())
		must(err)
		enc, err := f.NewEncoder(chunk, output.Group{})
		must(err)
		for n := range 2 {
			must(enc.Append(&format.Record{Data: fmt.Appendf(nil, `{"n":%d}`, int(first)+n)}))
		}
		must(enc.Close())
		file, err := chunk.Finish()
		must(err)
		file.Records, file.RawBytes, file.Kind = 2, 16, "page"
		c.Files = []output.File{file}
		_, err = p.Commit(c)
		must(err)
	}
	must(p.Close())
	return out
}

// want runs the command, and checks its exit code and output.
func want(t *testing.T, code int, args []string, parts ...string) string {
	t.Helper()
	got, stdout, stderr := seine(t, args...)
	if got != code {
		t.Errorf("seine %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	says(t, "seine "+strings.Join(args, " "), stdout+stderr, parts...)
	return stdout
}

const lines = "{\"n\":1}\n{\"n\":2}\n{\"n\":11}\n{\"n\":12}\n"

// For an output, or a folder in it, cat prints the committed records; for another directory, files
// that look like records.
func TestCat(t *testing.T) {
	out := committed(t)
	stray := filepath.Join(out, "c", "page", "part-000-20261121T010203Z-000000000099.jsonl")
	if err := os.WriteFile(stray, []byte("{\"stray\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{out, filepath.Join(out, "c"), filepath.Join(out, "c", "page")} {
		if got := want(t, exitOK, []string{"cat", at}); got != lines {
			t.Errorf("cat %s: %s", at, got)
		}
	}
	if got := want(t, exitOK, []string{"cat", stray}); got != "{\"stray\":1}\n" {
		t.Errorf("a file that is named: %s", got)
	}
	if err := os.Mkdir(filepath.Join(out, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := want(t, exitOK, []string{"cat", filepath.Join(out, "other")}); got != "" {
		t.Errorf("a folder without committed files: %s", got)
	}
	loose := t.TempDir()
	for name, text := range map[string]string{
		"a/b.jsonl": "{\"b\":1}\n", "c.json": "{\n \"c\": 1\n}\n", "notes.txt": "no", "list.json": "[1]", ".hidden.jsonl": "no", "_x/y.jsonl": "no",
	} {
		file := filepath.Join(loose, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := want(t, exitOK, []string{"cat", loose}); got != "{\"b\":1}\n{\"c\":1}\n" {
		t.Errorf("a directory without a log: %s", got)
	}
	want(t, exitUsage, []string{"cat", filepath.Join(out, "nothing")}, "no such file")
	want(t, exitFailed, []string{"cat", filepath.Join(loose, "notes.txt")}, "no records")
}

// For a truncated file cat prints the complete records and no partial one, and reports the
// truncation. For a committed file it also does so if the file was cut between two records, or
// changed.
func TestCatOfAFileThatIsCut(t *testing.T) {
	out := committed(t)
	const name = "part-000-20261121T010203Z-000000000001.jsonl.gz"
	chunk := filepath.Join(out, "c", "page", name)
	whole, err := os.ReadFile(chunk)
	if err != nil {
		t.Fatal(err)
	}
	first := gzipped(t, "{\"n\":1}\n")
	for what, text := range map[string][]byte{"cut": whole[:len(whole)-9], "without a record": first, "empty": nil} {
		if err := os.WriteFile(chunk, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{out, chunk} {
			got := want(t, exitFailed, []string{"cat", at}, "print c/page/"+name)
			if strings.TrimSuffix(got, "\n") != "" && got != "{\"n\":1}\n" && got != "{\"n\":1}\n{\"n\":2}\n" {
				t.Errorf("%s: cat %s prints %q", what, at, got)
			}
		}
	}
	loose := t.TempDir()
	for file, text := range map[string]string{
		"a.jsonl": "{\"a\":1}\n{\"b\":", "b.jsonl.gz": string(gzipped(t, "{\"a\":1}\n{\"b\":")),
	} {
		at := filepath.Join(loose, file)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := want(t, exitFailed, []string{"cat", at}, "truncated"); got != "{\"a\":1}\n" {
			t.Errorf("cat %s prints %q", file, got)
		}
	}
	if got := want(t, exitOK, []string{"cat", write(t, "hand.jsonl", `{"a":1}`)}); got != "{\"a\":1}\n" {
		t.Errorf("a last line without its end: %q", got)
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An encrypted output is read with the right key, and a wrong key is reported.
func TestEncryptedOutput(t *testing.T) {
	recipient, file := key(t)
	_, other := key(t)
	out := committed(t, recipient)
	if got := want(t, exitOK, []string{"cat", out, "--identity", file}); got != lines {
		t.Errorf("cat: %s", got)
	}
	want(t, exitOK, []string{"cat", out, "-i", other, "-i", file})
	want(t, exitFailed, []string{"cat", out}, "encrypted", "--identity")
	want(t, exitFailed, []string{"cat", out, "-i", other}, "other recipients")
	want(t, exitUsage, []string{"cat", out, "-i", "/no/such/key"}, "no such file")
	want(t, exitUsage, []string{"cat", out, "-i", write(t, "k", "rubbish")}, "neither an identity of age")
	want(t, exitOK, []string{"verify", out}, "2 files", "4 records", "all as committed")

	chunks, err := filepath.Glob(filepath.Join(out, "c", "page", "*.age"))
	if err != nil || len(chunks) != 2 {
		t.Fatal(chunks, err)
	}
	want(t, exitUsage, []string{"decrypt", chunks[0]}, "--identity")
	want(t, exitFailed, []string{"decrypt", chunks[0], "-i", other}, "other recipients")
	if got := want(t, exitOK, []string{"decrypt", chunks[0], "-i", file}); !strings.HasPrefix(got, "\x1f\x8b") {
		t.Errorf("decrypted, it is no gzip: %.20q", got)
	}
	want(t, exitOK, []string{"decrypt", chunks[0], chunks[1], "-i", file, "--beside"})
	plain := strings.TrimSuffix(chunks[0], ".age")
	if got := want(t, exitOK, []string{"cat", plain}); got != "{\"n\":1}\n{\"n\":2}\n" {
		t.Errorf("decrypted beside: %s", got)
	}
	want(t, exitOK, []string{"verify", out}, "2 files", "2 decrypted beside them", "all as committed")
	want(t, exitFailed, []string{"decrypt", chunks[0], "-i", file, "--beside"}, "already exists")
	want(t, exitFailed, []string{"decrypt", plain, "-i", file, "--beside"}, "decrypt")
	want(t, exitUsage, []string{"decrypt", "/no/such/file", "-i", file}, "no such file")
}

func TestVerify(t *testing.T) {
	out := committed(t)
	file := filepath.Join(out, "c", "page", "part-000-20261121T010203Z-000000000001.jsonl.gz")
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(manifest, []byte(want(t, exitOK, []string{"manifest", out, "--crawl", "c"})), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "copy") // without the log
	if err := os.CopyFS(bare, os.DirFS(out)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(bare, "_commits")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{out}, {out, "--crawl", "c"}, {out, "--manifest", manifest}, {bare, "--manifest", manifest}} {
		want(t, exitOK, append([]string{"verify"}, args...), "2 files, 4 records", "2 commits: all as committed")
	}
	want(t, exitFailed, []string{"verify", bare}, "no commit log")
	want(t, exitUsage, []string{"verify", out, "--crawl", "nosuch"}, "has no files in "+out+"; there is c")
	for _, args := range [][]string{{"verify", out}, {"cat", out}, {"cat", filepath.Join(out, "c")}, {"manifest", out}} {
		want(t, exitUsage, append(args, "--writer", "defaul"), "--writer defaul: has no commits in ", "did you mean default? there is default")
	}
	want(t, exitOK, []string{"verify", out, "--writer", "default"}, "4 records")
	if got := want(t, exitOK, []string{"cat", filepath.Join(out, "c"), "--writer", "default"}); got != lines {
		t.Errorf("cat of a folder of that writer: %s", got)
	}
	to := filepath.Join(t.TempDir(), "export")
	want(t, exitUsage, []string{"export", out, "--to", to, "--crawl", "nosuch"}, "has no files in "+out+"; there is c")
	want(t, exitOK, []string{"export", out, "--to", to, "--crawl", "c"}, "4 records") // the destination is not bound to another crawl
	damage := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damage(filepath.Join(out, "c", "page", "stray.jsonl"), nil)
	damage(filepath.Join(out, "c", "page", "part-000-20261121T010203Z-000000000021.jsonl.gz"), nil) // of a future commit
	damage(file, whole[1:])
	want(t, exitFailed, []string{"verify", out}, "changed    c/page/part-000-20261121T010203Z-000000000001", "surplus    c/page/stray.jsonl", "1 not committed yet: 2 wrong")
	want(t, exitFailed, []string{"verify", out, "--manifest", manifest}, "changed ", "surplus ")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	want(t, exitFailed, []string{"verify", out}, "missing    c/page/part-000")

	// A log without its last entry and that entry's file.
	lost := committed(t)
	if err := os.MkdirAll(filepath.Join(lost, "_manifests", "default"), 0o700); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	damage(filepath.Join(lost, "_manifests", "default", "c.json"), copied)
	want(t, exitOK, []string{"verify", lost}, "all as committed")
	last := "part-000-20261121T010203Z-000000000011"
	if err := os.Remove(filepath.Join(lost, "_commits", "default", last+".json")); err != nil {
		t.Fatal(err)
	}
	want(t, exitFailed, []string{"verify", lost}, "missing    "+last+": _manifests/default/c.json has this entry with ")

	// Two entries for the same messages.
	entry := filepath.Join(out, "_commits", "default", "part-000-20261121T010203Z-000000000001.json")
	text, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	damage(entry, []byte(strings.Replace(string(text), `"last_seq":10`, `"last_seq":11`, 1)))
	want(t, exitFailed, []string{"verify", out}, "order      part-000-20261121T010203Z-000000000011: begins at message 11, the entry before ends with 11")

	for _, args := range [][]string{
		{"/no/such/place"}, {out, "--manifest", "/no/such/file"}, {out, "--manifest", manifest, "--crawl", "c"},
		{out, "--manifest", write(t, "m", "rubbish")}, {out, "--manifest", write(t, "m", `{"v":1}`)}, {out, "--manifest", write(t, "m", `{"v":7}`)},
	} {
		want(t, exitUsage, append([]string{"verify"}, args...))
	}
}

func TestManifest(t *testing.T) {
	out := committed(t)
	var m output.Manifest
	if err := json.Unmarshal([]byte(want(t, exitOK, []string{"manifest", out})), &m); err != nil {
		t.Fatal(err)
	}
	if m.Crawl != "c" || m.Records != 4 || m.FileCount != 2 || len(m.Files) != 2 || m.Complete || m.Encrypted ||
		len(m.Streams) != 1 || m.Streams[0].FirstSeq != 1 || m.Streams[0].LastSeq != 20 || len(m.Streams[0].Commits) != 2 ||
		m.Kinds["page"] != 4 || len(m.Formats) != 1 || m.Formats[0] != "jsonl.gz" || m.Writer != "default" {
		t.Errorf("the manifest is %+v", m)
	}
	stored := filepath.Join(out, "_manifests", "default", "c.json")
	if want(t, exitOK, []string{"manifest", out, "--write"}) != "" {
		t.Error("it prints what it stores")
	}
	text, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	// A manifest stays complete until something is committed.
	if err := os.WriteFile(stored, []byte(strings.Replace(string(text), `"complete": false`, `"complete": true`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, exitOK, []string{"manifest", out, "--write"})
	want(t, exitOK, []string{"manifest", out}, `"complete": true`)
	want(t, exitUsage, []string{"manifest", out, "--crawl", "d"}, "has no commits there", "these crawls have: c")
	want(t, exitUsage, []string{"manifest", "/no/such/place"}, "no such file")
	want(t, exitFailed, []string{"manifest", t.TempDir()}, "no commit log")
}

func TestExport(t *testing.T) {
	recipient, file := key(t)
	out := committed(t, recipient)
	to := filepath.Join(t.TempDir(), "to")
	args := []string{"export", out, "--to", to, "-i", file, "--format", "objects", "--key", "{crawl}/{field:n}.json"}
	want(t, exitOK, args, "exported 4 records of 2 commits to ", "4 files")
	want(t, exitOK, args, "nothing to do: all 2 commits are in "+to)
	for _, other := range []struct{ flags, says string }{
		{"--format objects --key {id}.json", "--key is {crawl}/{field:n}.json there, and {id}.json here"},
		{"--format csv --csv-bom", "--format is objects there, and csv here; --path is not given there, and {crawl}/{kind} here; --key is {crawl}/{field:n}.json there, and not given here; --csv-bom is not given there, and given here"},
		{"--format objects --key {crawl}/{field:n}.json --encrypt " + recipient, "--encrypt is not given there, and given here"},
	} {
		want(t, exitFailed, append([]string{"export", out, "--to", to, "-i", file}, strings.Fields(other.flags)...), "has an export with other flags: "+other.says)
	}
	if got, err := os.ReadFile(filepath.Join(to, "c", "11.json")); err != nil || string(got) != "{\"n\":11}\n" {
		t.Errorf("an object: %q, %v", got, err)
	}
	want(t, exitOK, []string{"cat", to}, lines)
	want(t, exitOK, []string{"verify", to}, "4 files")
	want(t, exitOK, []string{"cat", filepath.Join(to, "c")}, `{"n":12}`)
	want(t, exitOK, []string{"manifest", to}, `"writer": "export"`, `"object"`)

	want(t, exitFailed, []string{"export", out, "--to", t.TempDir()}, "encrypted", "--identity")
	want(t, exitFailed, []string{"export", out, "--to", out}, "--to "+out, "name another")
	want(t, exitFailed, append(args, "--crawl", "c"), "has an export of everything, this one is of the crawl c")
	want(t, exitUsage, []string{"export", "s3://bucket/x", "--s3-endpoint", "http://127.0.0.1:1", "--to", to}, "is for a --to", "--from-s3-endpoint")
	want(t, exitUsage, []string{"export", out, "--to", "-"}, "--to -: Seine does not write to standard output")
	for _, wrong := range [][]string{
		{"export", out},
		{"export", "/no/such/place", "--to", to},
		{"export", out, "--to", "s3://X"},
		{"export", out, "--to", to, "--format", "xls"},
		{"export", out, "--to", to, "--key", "{id}"},
		{"export", out, "--to", to, "--crawl", "No such/name"},
		{"export", out, "--to", to, "--to", to},
		{"export", out, "--to", to, "--encrypt", "me"},
		{"export", out, "--to", to, "--from-s3-region", "x"},
	} {
		want(t, exitUsage, wrong)
	}
}

// A dry run prints what would be written where, and creates nothing.
func TestCrawlDryRunOfOutput(t *testing.T) {
	recipient, _ := key(t)
	t.Chdir(t.TempDir())
	args := []string{"crawl", "https://example.org/", "--dry-run", "--encrypt", recipient}
	want(t, exitOK, args, "would write records as jsonl.zst", "./seine-out", "default/part-000-", ".jsonl.zst.age", recipient, "_manifests/default/")
	want(t, exitOK, append(args, "--format", "objects"), "{crawl}/{kind}/{id}.json.age")
	want(t, exitFailed, append(args, "--out", write(t, "file", "")), "is a file")
	other := committed(t)
	if err := os.Rename(filepath.Join(other, "_commits", "default"), filepath.Join(other, "_commits", "second")); err != nil {
		t.Fatal(err)
	}
	want(t, exitFailed, append(args, "--out", other), `belongs to the writer "second"`)
	want(t, exitUsage, append(args, "--out", "a", "--out", "b"), "--out is given more than once")
	if all, err := os.ReadDir("."); err != nil || len(all) != 0 {
		t.Errorf("it made %v", all)
	}
}

// Two crawls of the same name with different --data replace each other's rows in a shared database.
// The second warns about it, once.
func TestCrawlOfTheSameNameInADatabaseIsTold(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	run := func(data string, args ...string) string {
		t.Helper()
		code, _, stderr := seine(t, append([]string{"crawl", "--data", filepath.Join(dir, data), "--out", "sqlite:" + filepath.Join(dir, "a.db"), "--quiet"}, args...)...)
		if code != exitOK {
			t.Fatalf("crawl %q ends with %d: %s", args, code, stderr)
		}
		return stderr
	}
	flags := []string{"--allow-private", "--delay", "0s", "--max-pages", "1"}
	for _, tt := range []struct {
		data string
		args []string
		told bool
	}{
		{"one", append(flags, site+"/p/1"), false},
		{"two", append(flags, site+"/p/1"), true},
		{"two", []string{"--again", "--max-pages", "2"}, false},
		{"three", append(flags, site+"/p/1", "--crawl", "another"), false},
	} {
		if got := run(tt.data, tt.args...); strings.Contains(got, "has a crawl of this name already") != tt.told {
			t.Errorf("%s %q: %s; want it told: %v", tt.data, tt.args, got, tt.told)
		}
	}
}
