package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// catchingUp reports partitions that have an owner which does not work on them yet.
func catchingUp(ctx context.Context, bus *stages.Bus) ([]Finding, error) {
	behind, err := frontierapi.Client{Bus: bus}.Replaying(ctx)
	if err != nil && !errors.Is(err, frontierapi.ErrUnanswered) { // that is said of the owners
		return nil, fmt.Errorf("ask for partitions that catch up: %w", err)
	}
	return catchingUpFindings(behind), nil
}

// catchingUpFindings returns a finding for each partition that catches up.
func catchingUpFindings(behind []int) []Finding {
	if len(behind) == 0 {
		return nil
	}
	return []Finding{{
		Level: Warn, Check: "partitions",
		What: "frontier: since its start, the owner of partition " + list(behind) + " still applies what the streams hold, and sends no request of it",
		Do:   "wait: nothing is lost, and the frontier logs when it has caught up",
	}}
}

// list names partitions: 1, 2.
func list(partitions []int) string {
	names := make([]string, len(partitions))
	for i, p := range partitions {
		names[i] = strconv.Itoa(p)
	}
	return strings.Join(names, ", ")
}
