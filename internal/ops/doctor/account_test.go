package doctor

import (
	"strings"
	"testing"

	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
)

// Until all streams are reserved, the account may be too small: only the server knows.
func TestAccountWithoutAllStreams(t *testing.T) {
	t.Parallel()
	bus, _ := stagestest.Dial(t, natstest.NewBroker(t).URL())
	p := messages.Provisioned{Limits: messages.DefaultStreamLimits(), Replicas: 1}
	if f := account(t.Context(), bus, p); f.Level != Warn || !strings.Contains(f.What, "; 0 B is reserved") || !strings.Contains(f.Do, "max_file_store") {
		t.Errorf("without streams: %+v", f)
	}
	check(t, bus.Provision(t.Context(), 2, p.Limits, 1))
	if f := account(t.Context(), bus, p); f.Level != OK || f.Do != "" {
		t.Errorf("with all streams: %+v", f)
	}
}
