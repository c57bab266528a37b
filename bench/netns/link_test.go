package netns

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// arrival is a packet that has arrived, and how long after it was sent.
type arrival struct {
	size  int
	after time.Duration
}

// sendAll sends packets of these sizes at once, and returns what arrives.
func sendAll(t *testing.T, c Condition, sizes ...int) (got []arrival) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		began := time.Now()
		l := newLink(c, seeded(1), func(b []byte) { got = append(got, arrival{len(b), time.Since(began)}) })
		for _, size := range sizes {
			l.send(make([]byte, size), time.Now())
		}
		time.Sleep(time.Minute)
		l.close()
		l.send(make([]byte, 1), time.Now()) // is nobody's any more
		synctest.Wait()
	})
	return got
}

func TestLinkDoesWhatItsConditionSays(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		Condition
		sizes []int
		want  []arrival
	}{
		"cut":           {Condition{Cut: true}, []int{100, 100}, nil},
		"late":          {Condition{Delay: 30 * ms}, []int{100, 1}, []arrival{{100, 30 * ms}, {1, 30 * ms}}},
		"slow":          {Condition{Rate: 8000}, []int{100, 50}, []arrival{{100, 100 * ms}, {50, 150 * ms}}},
		"slow and late": {Condition{Rate: 8000, Delay: 5 * ms}, []int{100, 50}, []arrival{{100, 105 * ms}, {50, 155 * ms}}},
		// The third would have to wait for two seconds.
		"its queue is full": {Condition{Rate: 8000}, []int{1000, 1000, 1000}, []arrival{{1000, time.Second}, {1000, 2 * time.Second}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sendAll(t, c.Condition, c.sizes...); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestLossIsTheShareThatWasAskedFor(t *testing.T) {
	const sent = 10_000
	n := 0
	l := newLink(Condition{Loss: 0.03}, seeded(7), func([]byte) { n++ })
	defer l.close()
	for range sent {
		l.send([]byte{0}, time.Now())
	}
	if lost := sent - n; lost < 250 || lost > 350 {
		t.Errorf("%d of %d are lost, want about 300", lost, sent)
	}
}

// datagram is a packet of IPv4 with these ports.
func datagram(protocol byte, from, to uint16, more ...byte) []byte {
	p := append(make([]byte, headerSize), byte(from>>8), byte(from), byte(to>>8), byte(to))
	p[0], p[atProtocol] = 0x45, protocol
	copy(p[atDestination:], []byte{10, 77, 0, 2})
	return append(p, more...)
}

func TestConditionOfPortsIsAboutTheseAlone(t *testing.T) {
	fragment := datagram(protocolTCP, 4222, 9)
	fragment[7] = 1
	for name, c := range map[string]struct {
		packet []byte
		passes bool
	}{
		"to the port":      {datagram(protocolTCP, 50000, 4222), false},
		"from the port":    {datagram(protocolUDP, 4222, 50000), false},
		"of another":       {datagram(protocolTCP, 50000, 8080), true},
		"ping":             {datagram(1, 4222, 4222), true},
		"a later fragment": {fragment, true},
		"no packet":        {[]byte{0x45}, true},
		"IPv6":             {bytes.Repeat([]byte{0x60}, 60), true},
	} {
		t.Run(name, func(t *testing.T) {
			passed := false
			l := newLink(Condition{Cut: true, Ports: []uint16{4222}}, seeded(1), func([]byte) { passed = true })
			defer l.close()
			if l.send(c.packet, time.Now()); passed != c.passes {
				t.Errorf("passes: %t", passed)
			}
		})
	}
}

func FuzzPortsOf(f *testing.F) {
	f.Add(datagram(protocolTCP, 1, 2))
	f.Add([]byte{0x4f})
	f.Fuzz(func(_ *testing.T, p []byte) { portsOf(p) })
}
