package messages

import (
	"encoding/json"
	"testing"
	"time"
)

// Each era begins when its key is written, and a message belongs to the era in which it was stored.
func TestErasAt(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	at := func(i int) time.Time { return begin.Add(time.Duration(i) * time.Hour) }
	var e Eras
	for i := 1; i <= maxEras+20; i++ {
		text, err := json.Marshal(e.Begin(uint64(10 * i)))
		if err != nil {
			t.Fatal(err)
		}
		if e, err = DecodeEras(text, at(i)); err != nil {
			t.Fatal(err)
		}
		for j := max(1, i-maxEras+1); j <= i; j++ {
			if got, want := [...]uint64{e.At(at(j)), e.At(at(j + 1).Add(-1))}, uint64(10*j); got != [...]uint64{want, want} {
				t.Fatalf("after %d: era %d at %s, want %d", i, got, at(j), want)
			}
		}
		if first := e.At(begin); i < maxEras && first != 0 || i >= maxEras && first != e[0].Number || e.Last() != uint64(10*i) || len(e) > maxEras {
			t.Fatalf("after %d: %d eras of %d to %d", i, len(e), first, e.Last())
		}
	}
	if got := e.Begin(3); got.Last() != e.Last()+1 {
		t.Errorf("era %d follows %d", got.Last(), e.Last())
	}
	if e := Eras(nil); e.Last() != 0 || e.At(begin) != 0 {
		t.Errorf("without eras: %d, %d", e.Last(), e.At(begin))
	}
}
