package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// Another number of partitions. All of a registrable domain is in one partition, so each
// key goes to the partition that its domain has among the new ones:
//
//   - a URL, a host and a domain go as they are. Their index keys are derived from them;
//   - what seeds have opened goes by the domain in its key;
//   - the links of a page are kept by the partition of where they lead to, so each value is
//     taken apart, and the values of a page are numbered anew;
//   - counters by state are counted again, of the records. What only grows (attempts, bytes,
//     figures of runs) cannot be taken apart: all of it goes to one of the new partitions that
//     have URLs of the crawl, so that the sums stay what they are;
//   - the filters of known URLs and the sketches of the guards are made of the records when a
//     partition is opened, as always;
//   - partitions that become one have times of their own. The latest is kept, and what is due
//     by another is moved by the difference, so that all waits are as long as before.
//
// Of n partitions, p goes to those that leave the same remainder as p when divided by the
// greatest common divisor of both numbers: one in four goes to each of four.

// ErrUnsettled is returned where a crawl is being deleted, or partitions that become one do
// not agree on where a crawl stands: a frontier must run until it is settled.
var ErrUnsettled = errors.New("frontiers have not finished with a crawl")

// Repartitioning is a change of the number of partitions, from one store to another.
type Repartitioning struct {
	From, To *Store
	// Partitions are how many there are in From, and are to be in To.
	Partitions [2]int
	// Positions are up to where all is applied of the streams, in every partition.
	Positions map[string]messages.Position
	Clock     *Clock
	// Progress hears how many keys have been written.
	Progress func(keys int64)
}

// Moved is what a Repartitioning has done.
type Moved struct {
	Keys int64
	// URLs and Hosts are those of all crawls; Moves are the URLs that change their partition.
	URLs, Hosts, Moves int64
	// Usage is what the new partitions have used of the budgets of crawls, by crawl.
	Usage map[string]*CrawlUsage
	// Skipped are keys that are unreadable or lead nowhere, by kind.
	Skipped map[byte]int64
	// PerPartition counts the URLs of each of the new partitions.
	PerPartition []int64
}

// CrawlUsage is what the partitions have used of the budgets of a crawl.
type CrawlUsage struct {
	Since      uint64 // revision of the deletion of the name that the crawl came after
	Partitions map[int]Usage
}

// mover is a Repartitioning under way.
type mover struct {
	*Repartitioning
	ctx   context.Context
	step  int // the greatest common divisor of both numbers
	times []classTime
	hosts map[string]int // cache: partition of a host, with its port
	batch *pebble.Batch
	out   Moved
	dry   bool
}

// Run writes the state of the new partitions into To, which must be empty.
func (r *Repartitioning) Run(ctx context.Context) (*Moved, error) { return r.run(ctx, false) }

// Count says what Run would move, and writes nothing. To may be nil.
func (r *Repartitioning) Count(ctx context.Context) (*Moved, error) { return r.run(ctx, true) }

func (r *Repartitioning) run(ctx context.Context, dry bool) (*Moved, error) {
	m := &mover{Repartitioning: r, ctx: ctx, step: gcd(r.Partitions[0], r.Partitions[1]), hosts: make(map[string]int), dry: dry}
	m.out = Moved{Usage: make(map[string]*CrawlUsage), Skipped: make(map[byte]int64), PerPartition: make([]int64, r.Partitions[1])}
	if !dry {
		m.batch = r.To.db.NewBatch()
		defer func() { _ = m.batch.Close() }()
	}
	for _, do := range []func() error{m.readTimes, m.moveCrawls, m.moveHosts, m.writeTimes, m.writePositions, m.flush} {
		if err := do(); err != nil {
			return nil, err
		}
	}
	if dry {
		return &m.out, nil
	}
	if err := r.To.db.Flush(); err != nil {
		return nil, fmt.Errorf("write the new partitions: %w", err)
	}
	return &m.out, m.verify()
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sources are the partitions of From that may have something of partition q of To, or of any
// other that leaves the same remainder.
func (m *mover) sources(q int) (all []int) {
	for p := q % m.step; p < m.Partitions[0]; p += m.step {
		all = append(all, p)
	}
	return all
}

// targets are the partitions of To that something of partition p of From may go to.
func (m *mover) targets(p int) (all []int) {
	for q := p % m.step; q < m.Partitions[1]; q += m.step {
		all = append(all, q)
	}
	return all
}

// maxCachedHosts bounds the cache of where hosts go.
const maxCachedHosts = 1 << 16

// targetOfHost is the new partition of a host, given with or without its port.
func (m *mover) targetOfHost(host string) int {
	q, ok := m.hosts[host]
	if !ok {
		if len(m.hosts) == maxCachedHosts {
			clear(m.hosts)
		}
		q = messages.PartitionOfDomain(weburl.Domain(weburl.Hostname("http://"+host+"/")), m.Partitions[1])
		m.hosts[host] = q
	}
	return q
}

func (m *mover) targetOfURL(url string) int { return m.targetOfHost(weburl.Host(url)) }

func (m *mover) targetOfDomain(domain string) int {
	return messages.PartitionOfDomain(domain, m.Partitions[1])
}

// maxMoveBatch is about how many bytes are written at once.
const maxMoveBatch = 1 << 20

// put writes a key of a new partition.
func (m *mover) put(q int, kind byte, rest, value []byte) error {
	return m.write(append(table.Prefix(q, kind), rest...), value)
}

// putJSON writes a key of a new partition with a value that is stored as JSON.
func (m *mover) putJSON(q int, kind byte, rest []byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the state of a partition: %w", err)
	}
	return m.put(q, kind, rest, text)
}

func (m *mover) write(key, value []byte) error {
	m.out.Keys++
	if m.dry {
		return m.ctx.Err()
	}
	if err := m.batch.Set(key, value, nil); err != nil {
		return fmt.Errorf("write the new partitions: %w", err)
	}
	if m.batch.Len() < maxMoveBatch {
		return nil
	}
	if m.Progress != nil {
		m.Progress(m.out.Keys)
	}
	return m.flush()
}

// flush writes what is in the batch. It need not survive a crash: then all is written again.
func (m *mover) flush() error {
	if err := m.ctx.Err(); err != nil || m.dry {
		return err
	}
	if err := m.batch.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("write the new partitions: %w", err)
	}
	m.batch.Reset()
	return nil
}

// writePositions has every new partition go on behind all that the old ones have applied.
func (m *mover) writePositions() error {
	for q := range m.Partitions[1] {
		for stream, at := range m.Positions {
			if err := m.putJSON(q, kindPosition, []byte(stream), at); err != nil {
				return err
			}
		}
	}
	return nil
}

// movedAsTheyAre are the kinds that verify compares: each key of the old partitions is in
// one of the new, unless it led nowhere.
var movedAsTheyAre = []byte{kindURL, kindHost, kindDomain, kindOpened, kindOpening}

// ErrNotMoved is returned where the new partitions do not have what the old ones have.
var ErrNotMoved = errors.New("the new partitions differ from the old ones")

// verify reads both stores, and compares what there is of each kind.
func (m *mover) verify() error {
	before, err := m.From.Fingerprint(m.ctx, m.Partitions[0], movedAsTheyAre...)
	if err != nil {
		return err
	}
	after, err := m.To.Fingerprint(m.ctx, m.Partitions[1], movedAsTheyAre...)
	if err != nil {
		return err
	}
	shifted := slices.ContainsFunc(m.times, func(t classTime) bool { return t.shifts() })
	for _, kind := range movedAsTheyAre {
		was, is, skipped := before[kind], after[kind], m.out.Skipped[kind]
		if was.Keys-skipped != is.Keys || was != is && skipped == 0 && !shifted {
			return fmt.Errorf("%w: of kind %c there were %d keys, %d of them lead nowhere; now there are %d", ErrNotMoved, kind, was.Keys, skipped, is.Keys)
		}
	}
	return nil
}
