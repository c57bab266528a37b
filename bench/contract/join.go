package contract

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"seine/internal/base/sleep"
	"seine/pkg/stages"
)

// joinTime is how long brokers and a frontier may take until what checks can join them.
const joinTime = 2 * time.Minute

// Join connects what checks to the brokers at url, as name, once the frontier has made the streams. The bus is to be closed also if
// there is an error with it.
func Join(ctx context.Context, url, name string) (*stages.Bus, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	for {
		bus, err := stages.Dial(url, name, slog.New(slog.DiscardHandler))
		if err == nil {
			if err := bus.Join(ctx); err != nil {
				return bus, fmt.Errorf("join the cluster: %w", err)
			}
			return bus, nil
		}
		if err := sleep.For(ctx, 200*time.Millisecond); err != nil {
			return nil, fmt.Errorf("connect to the brokers: %w", err)
		}
	}
}
