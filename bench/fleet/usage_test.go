package fleet

import "testing"

func TestUsagePerPage(t *testing.T) {
	before := Usage{"nats-server": 1, "frontier": 2}
	after := Usage{"frontier": 4, "nats-server": 1.5, "writer": 0.25}
	const want = "5.50: nats-server 1.00, frontier 4.00, writer 0.50"
	if got := after.Since(before).PerPage(500).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (Usage{"seine": 3}).PerPage(1000).String(); got != "3.00: seine 3.00" {
		t.Errorf("one process: %s", got)
	}
}
