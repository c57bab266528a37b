package retention

import (
	"testing"
	"time"

	"seine/pkg/stages/partition"
)

// A floor counts when it has stood for as long as a node that was cut off may answer, and one that goes back counts at once.
func TestSettledFloor(t *testing.T) {
	t.Parallel()
	var s settledFloor
	now := time.Unix(1e9, 0)
	for i, step := range []struct {
		after      time.Duration
		read, want uint64
	}{
		{0, 10, 0}, // nobody knows since when
		{partition.LeaderBehind - 1, 20, 0},
		{1, 30, 10},
		{partition.LeaderBehind / 2, 25, 10},
		{partition.LeaderBehind, 40, 25}, // 30 was taken back
		{1, 5, 5},
		{partition.LeaderBehind, 50, 5},
		{partition.LeaderBehind, 50, 50},
	} {
		now = now.Add(step.after)
		if got := s.at(now, step.read); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
}
