package frontier

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// The valid seeds of a message are added whatever else it contains. Invalid ones get dead letters,
// at most maxLetters.
func TestMessageWithBadSeeds_GoodOnesFed(t *testing.T) {
	t.Parallel()
	const good = "https://a.test/1\nhttps://a.test/2\n"
	for name, c := range map[string]struct {
		bad     string
		letters int
		last    string // what the last letter says
	}{
		"one line":         {"nonsense", 1, "nonsense"},
		"a line of 1 MiB":  {strings.Repeat("x", 1<<20-1000), 1, ""},
		"many short lines": {strings.Repeat("x\n", 400_000), maxLetters, fmt.Sprint(400_000-maxLetters, " more parts")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTakeoverFixture(t)
			f := a.frontier(a.store(), 0)
			a.publish(messages.SubjectSeeds("c"), "", []byte(good+c.bad))
			await.Start(t, seedIntake{f}.worker().Run)
			a.eventually("the seeds are fed", func() bool {
				return strings.Count(strings.Join(natstest.Stored(t, a.bus.JS, messages.StreamURLs), "\n"), `"u":"https://a.test/`) == 2
			})
			a.eventually("letters are there", func() bool { return len(natstest.Stored(t, a.bus.JS, messages.StreamDead)) >= c.letters })
			dead := natstest.StreamOf(t, a.bus.JS, messages.StreamDead)
			var said strings.Builder
			for seq := range uint64(c.letters) {
				m, err := dead.GetMsg(t.Context(), seq+1)
				a.must(err)
				if len(m.Data) == 0 {
					t.Error("a letter is empty")
				}
				said.WriteString(m.Header.Get(messages.HeaderDeadReason))
			}
			if n := dead.CachedInfo().State.Msgs; n != uint64(c.letters) || !strings.Contains(said.String(), c.last) {
				t.Errorf("%d letters: %.2000s", n, said.String())
			}
		})
	}
}

// Seeds are visited in the era in which they were stored, whenever they are read: so a message that
// was read in a time that a restore has undone begins the same visits again.
func TestSeedsBelongToTheEraOfTheirMessage(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	f := a.frontier(a.store(), 0)
	var want []uint64
	for i := range 3 {
		a.publish(messages.SubjectSeeds("c"), fmt.Sprint(i), fmt.Appendf(nil, "https://a.test/%d", i))
		era, err := a.bus.Eras.Last(t.Context())
		a.must(err)
		want = append(want, era)
		a.must(a.bus.Eras.Begin(t.Context()))
	}
	a.must(f.readEra(t.Context()))
	await.Start(t, seedIntake{f}.worker().Run)
	var got []uint64
	a.eventually("the seeds are fed", func() bool {
		got = nil
		for _, text := range natstest.Stored(t, a.bus.JS, messages.StreamURLs) {
			c, err := messages.DecodeCandidates([]byte(text))
			a.must(err)
			got = append(got, c.Era)
		}
		return len(got) == len(want)
	})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the eras are %d, want %d", got, want)
	}
}

// Seeds are read under the spec stored before them, although the frontier has not read it yet.
func TestSeedsAreFedUnderTheSpecStoredBefore(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	f := a.frontier(a.store(), 0)
	var err error
	f.specs, err = stages.OpenSpecs(t.Context(), a.bus) // it follows no changes
	a.must(err)
	put := func() (uint64, error) {
		spec := crawlspec.Default()
		spec.MaxPages = rand.Int64()
		return a.specs.Put(t.Context(), "c", &spec)
	}
	remove := func() (uint64, error) {
		d, err := a.specs.Deletions.Delete(t.Context(), "c", messages.Deletion{})
		return d.Rev, err
	}
	for name, store := range map[string]func() (uint64, error){
		"a spec":                put,
		"a deletion":            remove,
		"a deletion and a spec": func() (uint64, error) { _, err := remove(); a.must(err); return put() },
	} {
		rev, err := store()
		a.must(err)
		out, err := seedIntake{f}.seeds(t.Context(), &stages.Message{Subject: messages.SubjectSeeds("c"), Stream: messages.StreamSeeds, Sequence: 1, Data: []byte("https://a.test/")})
		a.must(err)
		c, err := messages.DecodeCandidates(out.First[0].Data)
		a.must(err)
		if c.Rev != rev {
			t.Errorf("after %s: seeds of revision %d, want %d", name, c.Rev, rev)
		}
	}
}
