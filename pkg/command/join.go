package command

import (
	"context"

	"seine/pkg/stages"
)

// join waits until the streams are there, and follows the specs of all crawls until stop is called.
func join(ctx context.Context, bus *stages.Bus) (specs *stages.Specs, stop func(), err error) {
	if err := bus.Join(ctx); err != nil {
		return nil, nil, err
	}
	return stages.FollowSpecs(ctx, bus)
}
