package politeness

import (
	"bytes"
	"testing"
	"time"
	"unsafe"
)

func TestStateIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(State{}); size != 72 {
		t.Errorf("a State is %d bytes; change the package comment", size)
	}
	for _, tt := range []struct {
		name string
		host func() *host
		most int
	}{
		{"never asked", func() *host { return newHost(t, Rules{}) }, 2},
		{"in use", func() *host {
			h := newHost(t, Rules{Delay: time.Second, Factor: 1, MaxDelay: time.Minute})
			h.asks(50, goodIn(123456789))
			return h
		}, 26},
		{"of every number", func() *host {
			h := newHost(t, Rules{Delay: time.Second, Jitter: 1, Breaker: Breaker{Failures: 1, Wait: time.Hour}})
			h.ask(goodWithCrawlDelay(10 * time.Second))
			h.asks(5, throttled)
			h.asks(9, goodIn(123456789))
			h.asks(9, failure)
			return h
		}, 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.host().state
			if b := s.Append(nil); len(b) > tt.most {
				t.Errorf("%+v is stored in %d bytes, want %d at most", s, len(b), tt.most)
			}
			wantRoundTrip(t, s)
		})
	}
}

// wantRoundTrip encodes s between other bytes and decodes it.
func wantRoundTrip(t interface{ Errorf(string, ...any) }, s State) {
	b := s.Append([]byte("before"))
	if len(b) > len("before")+80 {
		t.Errorf("%+v is stored in %d bytes", s, len(b))
	}
	got, rest, err := ReadState(append(b[len("before"):], "after"...))
	if err != nil || got != s || string(rest) != "after" {
		t.Errorf("ReadState = %+v, %q, %v, want %+v", got, rest, err, s)
	}
}

// The bytes of version 1 must always be readable.
func TestStateOfVersion1(t *testing.T) {
	stored := []byte{1, 0xff, 0x07, 2, 3, 4, 9<<3 | 2<<1 | 1, 5, 6, 7, 8, 9, 10}
	want := State{
		ended: 1, wait: 3, began: -1, good: 9, why: forRetryAfter, asked: true, smoothed: 5,
		crawlDelay: 6, slow: 7, failures: 8, opened: 9, pause: 10,
	}
	got, rest, err := ReadState(stored)
	if err != nil || got != want || len(rest) != 0 {
		t.Errorf("ReadState = %+v, %v, %v, want %+v", got, rest, err, want)
	}
	if again := got.Append(nil); !bytes.Equal(again, stored) {
		t.Errorf("Append = %v, want %v", again, stored)
	}
}

func TestStateThatCannotBeRead(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}
	for name, b := range map[string][]byte{
		"nothing":           nil,
		"another version":   {2, 0},
		"no set":            {1},
		"a number missing":  {1, 1},
		"a number cut":      {1, 1, 0x80},
		"an unknown number": {1, 0x80, 0x10, 1},
		"no varint":         append([]byte{1, 1, 0xff}, huge...),
		"a negative wait":   append([]byte{1, 2}, huge...),
		"too many failures": append([]byte{1, 0x80, 0x01}, huge...),
		"a reason unknown":  {1, 8, 3 << 1},
		"too long a row":    {1, 8, 0x50},
		"too many refused":  {1, 0x80, 0x08, 6},
		"too many in a row": append([]byte{1, 8}, huge...),
	} {
		if s, _, err := ReadState(b); err == nil || s != (State{}) {
			t.Errorf("%s: ReadState = %+v, %v, want an error", name, s, err)
		}
	}
}
