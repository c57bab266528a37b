package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/humanize"
	"seine/internal/streams/drift"
	"seine/internal/streams/retention"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// objects compares the streams, buckets and consumers with Seine's configuration of them. The
// consumers of running stages must exist.
func objects(ctx context.Context, bus *stages.Bus, running map[string]bool) ([]Finding, error) {
	p, err := stages.ReadProvisioned(ctx, bus)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, want := range p.Streams() {
		names = append(names, want.Name)
	}
	infos, leaderless, err := streamInfos(ctx, bus, names)
	var found []drift.Difference
	for i, want := range p.Streams() {
		if slices.Contains(leaderless, want.Name) || err != nil && infos[i] == nil {
			continue // reported elsewhere
		}
		found = append(found, drift.Stream(want, infos[i])...)
		if infos[i] != nil && slowStage[want.Name] != "" {
			some, failed := consumers(ctx, bus, want.Name, running)
			found, err = append(found, some...), errors.Join(err, failed)
		}
	}
	findings := []Finding{account(ctx, bus, p)}
	for _, d := range found {
		findings = append(findings, Finding{Level: Fail, Check: "objects", What: d.Object + " " + d.What, Do: d.Repair})
	}
	if len(findings) == 1 && err == nil {
		findings = append(findings, Finding{Level: OK, Check: "objects", What: "streams, buckets and consumers are as Seine configures them"})
	}
	return findings, err
}

// stateless maps each stage with a shared consumer to that consumer.
var stateless = map[string]string{
	messages.StageFrontier: messages.ConsumerSeeds, messages.StageFetcher: messages.ConsumerFetch,
	messages.StageRenderer: messages.ConsumerRender, messages.StageParser: messages.ConsumerParse,
}

// consumers returns the differences of the consumers of a stream. It ignores missing consumers of
// partitions, which their owners report.
func consumers(ctx context.Context, bus *stages.Bus, stream string, running map[string]bool) (found []drift.Difference, err error) {
	all := make(map[string]*jetstream.ConsumerInfo)
	for stage, name := range stateless {
		if running[stage] {
			all[name] = nil
		}
	}
	have, err := bus.Consumers(ctx, stream)
	for _, c := range have {
		all[c.Name] = c
	}
	for name, c := range all {
		want, ours := messages.NamedConsumer(stream, name)
		switch {
		case err != nil:
		case ours:
			found = append(found, drift.Consumer(stream, want, c)...)
		case c != nil && stream == messages.StreamFetch: // a work queue
			found = append(found, drift.Difference{
				Object: drift.ConsumerObject(stream, name), What: "does not belong to Seine and takes requests from the fetchers", Repair: "nats consumer rm " + stream + " " + name,
			})
		}
	}
	return found, err
}

// account compares the limits of the account with Seine's needs.
func account(ctx context.Context, bus *stages.Bus, p messages.Provisioned) Finding {
	a, err := stages.Account(ctx, bus, p.Replicas)
	if err != nil {
		return Finding{Level: Fail, Check: "account", What: err.Error()}
	}
	l := a.Limits
	what := fmt.Sprintf("Seine needs %s (max_storage is %d) and %d streams (max_streams is %d); the account has %d consumers (max_consumers is %d), max_payload is %s; -1 for no limit",
		humanize.Size(p.Bytes()), l.MaxStore, len(p.Streams()), l.MaxStreams, a.Consumers, l.MaxConsumers, humanize.Size(bus.NC.MaxPayload()))
	if l.MaxStore >= 0 && p.Bytes() > l.MaxStore || l.MaxStreams >= 0 && len(p.Streams()) > l.MaxStreams {
		return Finding{Level: Fail, Check: "account", What: what, Do: "raise the limits of the account, or lower those of the frontier's flags such as --pages-bytes"}
	}
	if reserved := int64(a.ReservedStore); reserved < p.Bytes() {
		return Finding{Level: Warn, Check: "account", What: fmt.Sprintf("%s; %s is reserved", what, humanize.Size(reserved)), Do: "the max_file_store of the server, " +
			"by default three quarters of the free disk, must hold all: raise it, or lower the frontier's flags such as --pages-bytes"}
	}
	return Finding{Level: OK, Check: "account", What: what}
}

// strays reports messages on subjects that no consumer reads.
func strays(ctx context.Context, bus *stages.Bus) (found []Finding, err error) {
	for _, stream := range retention.StrayStreams {
		all, err := retention.Strays(ctx, bus, stream)
		if err != nil {
			return found, err
		}
		for subject, n := range all {
			found = append(found, Finding{
				Level: Warn, Check: "subjects", What: fmt.Sprintf("%s has %s of subject %s, which no consumer reads", stream, humanize.Plural(n, "message"), subject),
				Do: "publish to partitions of the layout (docs/reference/wire.md); the frontier moves these to DEAD",
			})
		}
	}
	return found, nil
}
