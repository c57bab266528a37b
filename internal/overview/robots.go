package overview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Robots is the robots.txt of an origin, as the fetchers share it.
type Robots struct {
	Origin    string    `json:"origin"`
	Status    int       `json:"status,omitempty"`
	FetchedAt time.Time `json:"fetched_at,omitzero"` // zero if it is being asked for
	Body      []byte    `json:"body,omitempty"`
}

// RobotsOf returns what is known of the robots.txt of a host, by http and https.
func RobotsOf(ctx context.Context, bus *stages.Bus, host string) (all []Robots, err error) {
	kv, err := bus.JS.KeyValue(ctx, messages.BucketRobots)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", messages.BucketRobots, err)
	}
	for _, scheme := range []string{"https://", "http://"} {
		e, err := kv.Get(ctx, messages.HashURL(scheme+host).String())
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the robots.txt of %s: %w", host, err)
		}
		var r Robots
		if err := jsontext.Unmarshal(e.Value(), &r); err != nil {
			return nil, fmt.Errorf("read the robots.txt of %s: %w", host, err)
		}
		all = append(all, r)
	}
	return all, nil
}
