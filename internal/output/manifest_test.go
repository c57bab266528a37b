package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeLog is a log in memory, whose entries have fakeFiles objects each: more than a manifest keeps
// in memory.
type fakeLog struct {
	entries int
	unread  map[uint64]error // error of reading an entry
}

const fakeFiles = 2000

var fakeCreated = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (l *fakeLog) List(int) ([]Ref, error) {
	refs := make([]Ref, l.entries)
	for i := range refs {
		refs[i] = Ref{Name: Name{StreamCreated: CreatedStamp(fakeCreated), First: uint64(i + 1)}, Stamp: "x"}
	}
	return refs, nil
}

func (l *fakeLog) Read(r Ref) (*Commit, error) {
	if err := l.unread[r.First]; err != nil {
		return nil, err
	}
	c := &Commit{Created: fakeCreated, FirstSeq: r.First, LastSeq: r.First}
	for i := range fakeFiles {
		c.Files = append(c.Files, File{Path: fmt.Sprintf("c/%d/%d.json", r.First, i), Crawl: "c", Records: 1, SHA256: strings.Repeat("ab", 32)})
	}
	return c, nil
}

func (*fakeLog) Open(File) (io.ReadCloser, error) { return nil, os.ErrNotExist }

// After a temporarily full disk, or a temporarily unreadable log, a manifest has every committed
// file.
func TestManifestHasEveryFileAfterAFullDisk(t *testing.T) {
	log := &fakeLog{entries: 5, unread: map[uint64]error{4: errors.New("I/O error")}}
	m, err := NewManifests(log, "default", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	update := func() error { return m.Update(func() error { return nil }) }
	spool := m.spool
	if err := update(); err == nil {
		t.Error("an entry that cannot be read is passed over")
	}
	log.unread, m.spool = nil, full
	for range 2 {
		if err := update(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("updated on a full disk: %v", err)
		}
	}
	m.spool = spool
	log.entries = 7
	if err := update(); err != nil {
		t.Fatal(err)
	}
	head, _ := m.Head("c")
	text, err := m.Encode(head)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	const want = 7 * fakeFiles
	if len(got.Files) != want || got.Records != want || len(got.Streams) != 1 || len(got.Streams[0].Commits) != 7 {
		t.Fatalf("it has %d files, %d records, %d commits; want %d, %d, 7", len(got.Files), got.Records, len(got.Streams[0].Commits), want, want)
	}
	for i, f := range got.Files {
		if want := fmt.Sprintf("c/%d/%d.json", 1+i/fakeFiles, i%fakeFiles); f.Path != want {
			t.Fatalf("file %d is %s, want %s", i, f.Path, want)
		}
	}
}
