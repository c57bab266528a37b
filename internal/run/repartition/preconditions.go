package repartition

import (
	"context"
	"fmt"
	"strings"

	"seine/internal/base/humanize"
	"seine/internal/ops/leases"
	"seine/internal/ops/procstats"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/partition"
)

// Blockers says what must be over before the number of partitions can be changed, a sentence
// for each; none if nothing is in the way.
func Blockers(ctx context.Context, b *stages.Bus) (all []string, err error) {
	for _, look := range []func(context.Context, *stages.Bus) ([]string, error){running, owning, requested, unread, unsaved} {
		found, err := look(ctx, b)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// running tells of processes that run: each knows the number of partitions from its start.
func running(ctx context.Context, b *stages.Bus) (all []string, err error) {
	processes, err := procstats.Collect(ctx, b.NC)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all
	}
	for i := range processes {
		all = append(all, processes[i].Name()+" is running: stop it")
	}
	return all, nil
}

// owning tells of leases: of processes that do not answer, or have ended a moment ago.
func owning(ctx context.Context, b *stages.Bus) (all []string, err error) {
	groups, err := leases.Read(ctx, b)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all
	}
	for _, g := range groups {
		for _, o := range g.Owners {
			if o.Name == owner {
				continue
			}
			all = append(all, fmt.Sprintf("%s %s owns %s: stop it; after a kill its leases end within %s", g.Name, o.Name, humanize.Plural(len(o.Partitions), "partition"), messages.LeaseTTL))
		}
	}
	return all, nil
}

// requested tells of requests that no fetcher has finished.
func requested(ctx context.Context, b *stages.Bus) ([]string, error) {
	s, err := b.JS.Stream(ctx, messages.StreamFetch)
	if err != nil {
		return nil, fmt.Errorf("look at stream %s: %w", messages.StreamFetch, err)
	}
	if n := s.CachedInfo().State.Msgs; n > 0 {
		return []string{fmt.Sprintf("FETCH has %s: pause the crawls, and let fetchers (and renderers) finish", humanize.Plural(n, "request"))}, nil
	}
	return nil, nil
}

// unread tells of messages that a stage has not done with.
func unread(ctx context.Context, b *stages.Bus) (all []string, err error) {
	for _, stream := range []string{messages.StreamURLs, messages.StreamResults, messages.StreamPages, messages.StreamRecords} {
		consumers, err := b.Consumers(ctx, stream)
		if err != nil {
			return nil, err //nolint:wrapcheck // says all
		}
		left := make(map[string]uint64)
		for _, c := range consumers {
			if who := reader(c.Name); who != "" {
				left[who] += c.NumPending + uint64(c.NumAckPending)
			}
		}
		for who, n := range left {
			if n > 0 {
				all = append(all, fmt.Sprintf("%s has %s that %s has not done with: let it run until it has", stream, humanize.Plural(n, "message"), who))
			}
		}
	}
	return all, nil
}

// unsaved tells of partitions whose newest snapshot lacks messages that the streams have. They would be applied
// once more, and what is due by them be due later than it is.
func unsaved(ctx context.Context, b *stages.Bus) ([]string, error) {
	snapshots, n := partition.NewSnapshots(b), 0
	for p := range b.Layout.Partitions {
		snap, _, err := snapshots.Newest(ctx, p)
		if err != nil {
			return nil, err //nolint:wrapcheck // says all
		}
		for _, stream := range []string{messages.StreamURLs, messages.StreamResults} {
			last, err := b.LastSequence(ctx, stream, messages.SubjectAny("*", p))
			if err != nil {
				return nil, err //nolint:wrapcheck // says all
			}
			if last > snap.Positions[stream].Sequence {
				n++
				break
			}
		}
	}
	if n == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("the newest snapshot of %s lacks what was applied since: let the frontier run until it has saved another (--snapshot-every)", humanize.Plural(n, "partition"))}, nil
}

// reader is the stage that a durable consumer is of, "" if it is of none of Seine's.
func reader(durable string) string {
	switch {
	case strings.HasPrefix(durable, messages.ConsumerURLs+"-"), strings.HasPrefix(durable, messages.ConsumerResults+"-"):
		return "the frontier"
	case durable == messages.ConsumerParse:
		return "the parser"
	case strings.HasPrefix(durable, messages.ConsumerWriter+"-"):
		name := strings.TrimPrefix(durable, messages.ConsumerWriter+"-")
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			name = name[:at]
		}
		return "the writer " + name
	}
	return ""
}
