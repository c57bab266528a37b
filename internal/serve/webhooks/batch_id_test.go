package webhooks

import (
	"testing"
	"time"

	"seine/internal/ops/records"
)

// A receiver drops posts with a known id: two batches have the same id only if they begin after the
// same message.
func TestBatchIDsOfTwoLivesOfAStreamDiffer(t *testing.T) {
	h, created := &Hook{Name: "h"}, time.Now()
	seen := make(map[string]records.Position)
	for life := range 3 {
		for seq := range uint64(5) {
			for parts := range 2 {
				at := records.Position{Created: created, Sequence: seq, Parts: parts, Time: created.Add(time.Duration(life)*time.Hour + time.Duration(seq)*time.Second)}
				id := batchID(h, at)
				if was, there := seen[id]; there || id != batchID(h, at) {
					t.Errorf("%s is of %+v and %+v", id, was, at)
				}
				seen[id] = at
			}
		}
	}
}
