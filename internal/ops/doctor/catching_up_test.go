package doctor

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A partition whose owner is still replaying is not healthy.
func TestPartitionThatReplaysItsLog(t *testing.T) {
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	check(t, err)
	t.Cleanup(bus.Close)
	bus.Layout.Partitions = 3
	behind := map[int]bool{1: true, 2: true}
	for p := range 3 {
		_, err := bus.NC.Subscribe(messages.SubjectFrontier(frontierapi.OpStatus, p), func(m *nats.Msg) {
			answer, _ := json.Marshal(frontierapi.PartitionStatus{Partition: p, Replaying: behind[p]})
			_ = m.Respond(answer)
		})
		check(t, err)
	}
	found, err := catchingUp(t.Context(), bus)
	check(t, err)
	if len(found) != 1 || found[0].Level != Warn || !strings.Contains(found[0].What, "the owner of partition 1, 2 still applies") {
		t.Errorf("found %+v", found)
	}
	if found := catchingUpFindings(nil); len(found) > 0 {
		t.Errorf("where none is behind: %+v", found)
	}
}
