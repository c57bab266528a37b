package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// replicas checks that every stream has a leader and replicas that keep up. It finds nothing on a
// server outside of a cluster.
func replicas(ctx context.Context, bus *stages.Bus) ([]Finding, error) {
	var single, behind []string
	most := 1
	names := messages.StreamNames()
	infos, leaderless, err := streamInfos(ctx, bus, names)
	if err != nil {
		return nil, err
	}
	for i, info := range infos {
		if info == nil { // some streams are optional
			continue
		}
		name := names[i]
		if info.Cluster == nil || info.Cluster.Name == "" {
			continue
		}
		most = max(most, info.Config.Replicas)
		if info.Config.Replicas == 1 {
			single = append(single, name)
		}
		for _, r := range info.Cluster.Replicas {
			if r.Offline || !r.Current {
				behind = append(behind, describe(name, r))
			}
		}
	}
	return judge(leaderless, single, behind, most), nil
}

// answerTime bounds the wait for a stream's leader. A stream without a leader does not answer.
const answerTime = 3 * time.Second

// streamInfos requests the infos of streams in parallel. An info is nil if its stream does not
// exist or has no leader.
func streamInfos(ctx context.Context, bus *stages.Bus, names []string) (infos []*jetstream.StreamInfo, leaderless []string, err error) {
	infos, errs := make([]*jetstream.StreamInfo, len(names)), make([]error, len(names))
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var looking sync.WaitGroup
	for i, name := range names {
		looking.Go(func() { infos[i], errs[i] = stages.StreamInfo(ctx, bus, name) })
	}
	looking.Wait()
	for i, err := range errs {
		if jsclient.Unavailable(err) {
			leaderless, errs[i] = append(leaderless, names[i]), nil
		}
	}
	return infos, leaderless, errors.Join(errs...)
}

func describe(stream string, r *jetstream.PeerInfo) string {
	if r.Offline {
		return fmt.Sprintf("%s on %s (offline)", stream, r.Name)
	}
	return fmt.Sprintf("%s on %s (%d operations)", stream, r.Name, r.Lag)
}

func judge(leaderless, single, behind []string, most int) (found []Finding) {
	add := func(level Level, what string, streams []string, do string) {
		if len(streams) > 0 {
			slices.Sort(streams)
			found = append(found, Finding{Level: level, Check: "replicas", What: what + strings.Join(streams, ", "), Do: do})
		}
	}
	add(Fail, "no leader answers for ", leaderless, "more than half of a stream's servers must be up and see each other: start those that are down (nats server report jetstream)")
	add(Warn, "behind: ", behind, "start the server, or wait until it has caught up; the loss of another may stop these streams")
	add(Warn, "one replica only, in a cluster: ", single, "these stop with their server: start the frontier with --replicas 3")
	if len(found) == 0 && most > 1 {
		found = append(found, Finding{Level: OK, Check: "replicas", What: fmt.Sprintf("%d of each stream, all current", most)})
	}
	return found
}
