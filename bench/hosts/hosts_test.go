//go:build linux

package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func TestFaultsFollowFromTheSeed(t *testing.T) {
	text := func(seed uint64) string {
		var lines []string
		for _, turn := range deck(spread(), kinds, 2, seed) {
			lines = append(lines, fmt.Sprint(turn.kind, turn.victim, turn.draw, turn.pause))
		}
		return strings.Join(lines, "\n")
	}
	if first := text(1); first != text(1) || first == text(2) {
		t.Error("the seed does not decide")
	}
	count := make(map[string]int)
	for _, turn := range deck(spread(), kinds, 2, 3) {
		count[turn.kind]++
		if turn.among != nil && !slices.Contains(turn.among(spread()), turn.victim) {
			t.Errorf("%s: %s", turn.kind, turn.victim)
		}
	}
	for _, f := range kinds {
		if count[f.kind] != 2 {
			t.Errorf("%s comes %d times in two rounds", f.kind, count[f.kind])
		}
	}
}

func TestOptionsSayWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"-only nonsense": "there are: cut machine;", "-rounds -1": "-rounds: from 1", "more": "unexpected argument", "-delay 1ms": "-delay: at least",
	} {
		if _, err := parseOptions(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	o, err := parseOptions([]string{"-measure", "-seed", "7"})
	if err != nil || o.Rounds != 3 || o.Hosts != 64 {
		t.Fatalf("%+v %v", o, err)
	}
	again, err := parseOptions(o.arguments())
	again.Dir = o.Dir
	if err != nil || again != o {
		t.Errorf("%+v is read as %+v, %v", o, again, err)
	}
}

// The layouts have as many of each stage as the issue says, and the same ones on one host.
func TestLayoutsHaveTheSameStages(t *testing.T) {
	stages := func(l layout) (all []string) {
		for _, m := range l.machines {
			all = append(all, m.stages...)
		}
		slices.Sort(all)
		return all
	}
	want := "fetcher fetcher fetcher fetcher frontier frontier parser parser writer writer"
	for _, l := range []layout{spread(), together(1)} {
		if got := strings.Join(stages(l), " "); got != want {
			t.Errorf("%s", got)
		}
	}
}

func TestNamesOfTheDomainAreOneHost(t *testing.T) {
	s := nameServer{address: netip.MustParseAddr("10.77.0.9")}
	for name, want := range map[string]string{"h3.test.": "A 10.77.0.9", "h3.example.": "RCodeNameError"} {
		question := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
		bytes, err := question.Pack()
		if err != nil {
			t.Fatal(err)
		}
		reply, err := s.answer(bytes)
		var m dnsmessage.Message
		if err == nil {
			err = m.Unpack(reply)
		}
		got := m.RCode.String()
		if len(m.Answers) == 1 {
			got = "A " + netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A).String()
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte{0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	s := nameServer{address: netip.MustParseAddr("10.77.0.9")}
	f.Fuzz(func(_ *testing.T, question []byte) { _, _ = s.answer(question) })
}
