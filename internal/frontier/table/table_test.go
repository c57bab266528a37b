package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// book is a record with an index key for each of its words, and one for its place.
type book struct {
	Row
	words []string
	place int64
}

func (r *book) Encode(b []byte) []byte {
	return fmt.Appendf(b, "%d %s", r.place, strings.Join(r.words, ","))
}

func (r *book) Derive(name string, keys *Keys) {
	for _, w := range r.words {
		keys.Add('w').Name(w).Text(name)
	}
	if r.place != 0 {
		keys.Add('p').Int(r.place).Bytes([]byte(name))
	}
}

func decodeBook(_ string, value []byte) (*book, error) {
	r := &book{}
	place, words, ok := strings.Cut(string(value), " ")
	if !ok {
		return nil, fmt.Errorf("unreadable: %q", value)
	}
	_, err := fmt.Sscan(place, &r.place)
	r.words = strings.FieldsFunc(words, func(c rune) bool { return c == ',' })
	return r, err
}

var books = Table[string, *book]{Kind: 'B', Key: func(b []byte, name string) []byte { return append(b, name...) }, Decode: decodeBook}

type shelf struct {
	*testing.T
	db *pebble.DB
	*Turn
}

func newShelf(t *testing.T) *shelf {
	db, err := pebble.Open("", &pebble.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{t, db, NewTurn(db, 7)}
	t.Cleanup(func() {
		s.Close()
		_ = db.Close()
	})
	return s
}

// turn commits what do changes.
func (s *shelf) turn(do func()) {
	s.Helper()
	do()
	if err := s.Commit(); err != nil {
		s.Fatal(err)
	}
}

func (s *shelf) load(name string) *book {
	s.Helper()
	r, found, err := books.Load(s.Turn, name)
	if err != nil || !found {
		s.Fatalf("%s: found %v, %v", name, found, err)
	}
	return r
}

func (s *shelf) want(partition int, keys ...string) {
	s.Helper()
	var got []string
	err := Scan(s.db, Partition(partition), nil, func(key, _ []byte) (bool, error) {
		got = append(got, strings.ReplaceAll(string(key[2:]), "\x00", "·"))
		return true, nil
	})
	if err != nil || !slices.Equal(got, keys) {
		s.Errorf("partition %d has %q, want %q; %v", partition, got, keys, err)
	}
}

const place5 = "p·······\x05"

func TestIndexFollowsTheRecord(t *testing.T) {
	s := newShelf(t)
	s.turn(func() { books.Put(s.Turn, "x", &book{words: []string{"a", "b"}, place: 5}) })
	s.want(7, "Bx", place5+"x", "wa·x", "wb·x")
	s.want(6)
	s.turn(func() {
		r := s.load("x")
		r.words, r.place = []string{"b", "c"}, 0
		books.Put(s.Turn, "x", r)
		r.words = []string{"c", "d"} // twice in a turn
		books.Put(s.Turn, "x", r)
	})
	s.want(7, "Bx", "wc·x", "wd·x")
	s.turn(func() { books.Remove(s.Turn, "x", s.load("x")) })
	s.want(7)
}

func TestRecordKnowsItsStoredKeys(t *testing.T) {
	s := newShelf(t)
	s.turn(func() { books.Put(s.Turn, "x", &book{words: []string{"a"}}) })
	r := s.load("x")
	r.words = []string{"b"}
	a, b := append(Name(Prefix(7, 'w'), "a"), 'x'), append(Name(Prefix(7, 'w'), "b"), 'x')
	if !r.Has(a) || r.Has(b) {
		t.Errorf("before a commit it has a: %v, b: %v", r.Has(a), r.Has(b))
	}
	s.turn(func() { books.Put(s.Turn, "x", r) })
	if r.Has(a) || !r.Has(b) {
		t.Errorf("after a commit it has a: %v, b: %v", r.Has(a), r.Has(b))
	}
}

func TestVerifyRestoresWhatIsMissing(t *testing.T) {
	s := newShelf(t)
	s.turn(func() { books.Put(s.Turn, "x", &book{words: []string{"a", "b"}, place: 5}) })
	s.turn(func() { s.DeletePrefix(Prefix(7, 'w')) })
	s.want(7, "Bx", place5+"x")
	var restored []byte
	s.turn(func() {
		if err := s.Verify(s.load("x"), func(kind byte) { restored = append(restored, kind) }); err != nil {
			t.Fatal(err)
		}
	})
	s.want(7, "Bx", place5+"x", "wa·x", "wb·x")
	if string(restored) != "ww" {
		t.Errorf("restored %q", restored)
	}
}

func TestUnreadableRecordIsQuarantined(t *testing.T) {
	s := newShelf(t)
	key := books.At(7, "x")
	s.turn(func() { s.Set(key, []byte("?")) })
	if _, found, err := books.Load(s.Turn, "x"); !found || err == nil {
		t.Fatalf("found %v, %v", found, err)
	}
	s.turn(func() {
		if err := s.Quarantine('J', key); err != nil {
			t.Fatal(err)
		}
	})
	s.want(7, "JBx")
}

func TestFailedTurnChangesNothing(t *testing.T) {
	s := newShelf(t)
	books.Put(s.Turn, "x", &book{words: []string{"a"}})
	s.SetJSON(Prefix(7, 'j'), func() {}) // which JSON cannot encode
	if err := s.Commit(); err == nil {
		t.Error("it was committed")
	}
	s.want(7)
}
