package overview

import (
	"context"
	"fmt"
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Robots is the robots.txt of an origin as shared by the fetchers: robotsEntry in
// pkg/stages/fetcher/robots.go.
type Robots struct {
	Origin    string    `json:"origin"`
	Status    int       `json:"status,omitempty"`
	FetchedAt time.Time `json:"fetched_at,omitzero"` // zero while it is being fetched
	Body      []byte    `json:"body,omitempty"`
}

// RobotsOf returns the stored robots.txt of a host, for http and https.
func RobotsOf(ctx context.Context, bus *stages.Bus, host string) (all []Robots, err error) {
	for _, scheme := range []string{"https://", "http://"} {
		var r Robots
		rev, err := bus.ReadJSON(ctx, messages.BucketRobots, messages.HashURL(scheme+host).String(), &r)
		if err != nil {
			return nil, fmt.Errorf("read the robots.txt of %s: %w", host, err)
		}
		if rev > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}
