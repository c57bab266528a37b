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

// catchingUp reports partitions whose owner has not yet replayed the streams.
func catchingUp(ctx context.Context, bus *stages.Bus) ([]Finding, error) {
	behind, err := frontierapi.Client{Bus: bus}.Replaying(ctx)
	if err != nil && !errors.Is(err, frontierapi.ErrUnanswered) { // the check of owners reports that
		return nil, fmt.Errorf("ask for partitions that catch up: %w", err)
	}
	return catchingUpFindings(behind), nil
}

// catchingUpFindings returns a finding for the partitions that are catching up.
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

// list formats partition numbers: 1, 2.
func list(partitions []int) string {
	names := make([]string, len(partitions))
	for i, p := range partitions {
		names[i] = strconv.Itoa(p)
	}
	return strings.Join(names, ", ")
}
