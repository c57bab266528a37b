// Package leases lists the owners of partitions.
package leases

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"seine/internal/ops/watchdog"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Group is the set of processes that share partitions: the frontiers, or the writers with one name.
type Group struct {
	Name       string  `json:"name"`
	Partitions int     `json:"partitions"` // total number
	Owners     []Owner `json:"owners"`
	// Free lists the partitions without an owner.
	Free []int `json:"free,omitempty"`
}

// Owner is a process and its partitions.
type Owner struct {
	Name       string    `json:"owner"`
	Partitions []int     `json:"partitions"`
	Renewed    time.Time `json:"renewed"` // latest renewal of one of them
}

// Read returns all groups, sorted by name: the frontiers always, other groups while they own a
// partition.
func Read(ctx context.Context, bus *stages.Bus) ([]Group, error) {
	keys, err := bus.Keys(ctx, messages.BucketLeases)
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	groups := map[string]map[string]*Owner{messages.StageFrontier: nil}
	for _, key := range keys {
		name, p, ok := partition.ParseLeaseKey(key)
		if !ok || name == watchdog.Group { // the watchdog's lease is for no partition
			continue
		}
		text, rev, err := bus.ReadKey(ctx, messages.BucketLeases, key)
		if err != nil {
			return nil, fmt.Errorf("read lease %s: %w", key, err)
		}
		if rev > 0 {
			add(groups, name, p, text)
		}
	}
	var all []Group
	for name, owners := range groups {
		all = append(all, group(name, owners, bus.Layout.Partitions))
	}
	slices.SortFunc(all, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func add(groups map[string]map[string]*Owner, name string, p int, text []byte) {
	owner, renewed, ok := partition.LeaseOwner(text)
	if !ok {
		return // not a lease
	}
	if groups[name] == nil {
		groups[name] = make(map[string]*Owner)
	}
	o := groups[name][owner]
	if o == nil {
		o = &Owner{Name: owner}
		groups[name][owner] = o
	}
	o.Partitions = append(o.Partitions, p)
	if renewed.After(o.Renewed) {
		o.Renewed = renewed
	}
}

func group(name string, owners map[string]*Owner, partitions int) Group {
	g, owned := Group{Name: name, Partitions: partitions}, make(map[int]bool)
	for _, o := range owners {
		slices.Sort(o.Partitions)
		for _, p := range o.Partitions {
			owned[p] = true
		}
		g.Owners = append(g.Owners, *o)
	}
	slices.SortFunc(g.Owners, func(a, b Owner) int { return strings.Compare(a.Name, b.Name) })
	for p := range partitions {
		if !owned[p] {
			g.Free = append(g.Free, p)
		}
	}
	return g
}
