package messages

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Visits of two eras, or of two crawls with one name, never share a round, however often their URLs
// are visited.
func TestRoundsOfErasAndDeletionsDiffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func() (era uint64, deletions uint32, round uint64) {
			era, deletions = rapid.Uint64Range(0, MaxEra).Draw(t, "era"), rapid.Uint32Range(0, 1<<deletionBits-1).Draw(t, "deletions")
			round = FirstRound(era, deletions)
			for range rapid.IntRange(0, 5).Draw(t, "visits") {
				round = NextRound(round, era)
			}
			return era, deletions, round
		}
		era, deletions, round := draw()
		if EraOf(round) != era || Deletions(round) != deletions || FirstRoundOf(round) != FirstRound(era, deletions) || round > 1<<63-1 {
			t.Fatalf("round %d of era %d after %d deletions is read as era %d after %d", round, era, deletions, EraOf(round), Deletions(round))
		}
		later := max(era, min(era+rapid.Uint64Range(0, 9).Draw(t, "later"), MaxEra))
		next := NextRound(round, later)
		if next <= round || EraOf(next) != later || Deletions(next) != deletions || later > era && next == FirstRoundOf(next) {
			t.Fatalf("the round after %d in era %d is %d: it must be of that era, and not that of a new URL", round, later, next)
		}
	})
}

func TestErasAreSecondsOfAllYearsToCome(t *testing.T) {
	t.Parallel()
	if EraAt(time.Unix(0, 0)) != 0 || EraAt(time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)) != 60 || EraAt(time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)) > MaxEra {
		t.Error("eras must be seconds since 2026, from 0, and fit into a round until 2090")
	}
}
