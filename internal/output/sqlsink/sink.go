package sqlsink

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"seine/internal/output"
)

// Timeouts of database queries. A connection that is cut fails at once; these are for one that is
// silent.
const (
	askTime    = time.Minute
	commitTime = 2 * time.Minute
	// readTime is for queries whose duration depends on the size of the output.
	readTime = 24 * time.Hour
)

// Sink is an output destination in a database.
type Sink struct {
	out    string // without secrets
	from   string
	db     Database
	tables *Tables // of db
	log    *slog.Logger
	hook   output.Hook

	viewsLock sync.Mutex
	views     map[string]described // by crawl and kind

	origin origin
	late   atomic.Int32 // commits that exceeded their timeout
}

// NewSink returns the sink of a writer of the source from. Errors contain out, so it must have no
// secrets.
func NewSink(out, from string, db Database, log *slog.Logger, h output.Hook) *Sink {
	return &Sink{out: out, from: from, db: db, tables: db.SharedTables(), log: log, hook: h}
}

func within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// OpenPartition implements output.Sink. It never returns output.ErrHeld, and has nothing to remove.
func (s *Sink) OpenPartition(p int, created time.Time) (output.Partition, []output.Ref, error) {
	ctx, cancel := within(askTime)
	defer cancel()
	err := s.learnOrigin(ctx, created)
	var feed int64
	if err == nil {
		feed, err = s.tables.enter(ctx, p, created)
	}
	var refs []output.Ref
	if err == nil {
		refs, err = s.List(p)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open partition %d of %s: %w", p, s.out, err)
	}
	return &partition{sink: s, feed: feed}, refs, nil
}

// placeFeed is the partition number of a pseudo-feed, one for each writer, whose creation time is
// the ID of the destination.
const placeFeed = -1

// PlaceID implements output.Place.
func (s *Sink) PlaceID(give string) (id string, err error) {
	ctx, cancel := within(askTime)
	defer cancel()
	if give != "" {
		err = s.tables.change(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO feeds (writer, partition, created) SELECT $1, $2, $3
				WHERE NOT EXISTS (SELECT 1 FROM feeds WHERE writer = $1 AND partition = $2)`, s.tables.Writer, placeFeed, give)
			return err
		})
	}
	if err == nil {
		err = s.tables.DB.QueryRowContext(ctx, `SELECT created FROM feeds WHERE writer = $1 AND partition = $2`, s.tables.Writer, placeFeed).Scan(&id)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, s.tables.Explain(err)
}

// List implements output.Log.
func (s *Sink) List(p int) (refs []output.Ref, err error) {
	ctx, cancel := within(askTime)
	defer cancel()
	err = s.tables.each(ctx, func(rows *sql.Rows) error {
		var r output.Ref
		err := rows.Scan(&r.Partition, &r.StreamCreated, &r.Incarnation, &r.First, &r.Stamp)
		refs = append(refs, r)
		return err
	}, `SELECT partition, epoch, life, first_seq, `+s.tables.Mark()+` FROM commits
		WHERE writer = $1 AND (CAST($2 AS int) < 0 OR partition = $2)`, s.tables.Writer, p)
	output.SortRefs(refs)
	return refs, err
}

// Read implements output.Log.
func (s *Sink) Read(r output.Ref) (*output.Commit, error) {
	ctx, cancel := within(askTime)
	defer cancel()
	n := r.Name
	var text []byte
	err := s.tables.DB.QueryRowContext(ctx, `SELECT entry FROM commits
		WHERE writer = $1 AND partition = $2 AND epoch = $3 AND life = $4 AND first_seq = $5`,
		s.tables.Writer, n.Partition, n.StreamCreated, n.Incarnation, int64(n.First)).Scan(&text)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", n, s.tables.Explain(err))
	}
	c, err := output.DecodeCommit(r.Name, text)
	if err != nil {
		return nil, fmt.Errorf("%w: entry %s of commits in %s: %w (restore it from a copy; if it is removed, its records are refused)",
			output.ErrCorrupt, r.Name, s.out, err)
	}
	return c, nil
}

// Open implements output.Log. It returns the records of a commit that are still the latest, as
// stored in their rows.
func (s *Sink) Open(f output.File) (io.ReadCloser, error) {
	n, _, ok := output.ParseName(path.Base(f.Path))
	if !ok {
		return nil, fmt.Errorf("open %s: not the name of a commit", f.Path)
	}
	c, err := s.Read(output.Ref{Name: n})
	if err != nil {
		return nil, err
	}
	ctx, cancel := within(commitTime)
	defer cancel()
	var b bytes.Buffer // not larger than a batch
	err = s.db.Latest(ctx, c, f.Crawl, f.Kind, func(line []byte) error {
		b.Write(line)
		return b.WriteByte('\n')
	})
	return io.NopCloser(&b), err
}

// VerifyCommit implements output.Verifier: every record of c must have an event, and each of these
// a row.
func (s *Sink) VerifyCommit(c *output.Commit, deleted int) error {
	ctx, cancel := within(commitTime)
	defer cancel()
	events, rows, err := s.db.Missing(ctx, c)
	if err == nil && events+rows > deleted {
		err = fmt.Errorf("%d of its %d records have no event, and %d events no row (if you deleted the rows of a crawl, add --deleted and its name)", events, c.Records(), rows)
	}
	if err != nil {
		return fmt.Errorf("verify %s: %w", c.Name(), err)
	}
	return nil
}

// EachRecord implements output.Reader.
func (s *Sink) EachRecord(do func(crawl string, line []byte) error) error {
	return s.lines(do, `SELECT crawl, CAST(record AS text) FROM pages WHERE gone_at IS NULL
		UNION ALL SELECT crawl, CAST(data AS text) FROM records WHERE gone_at IS NULL AND kind <> 'visit'`)
}

// lines calls do with each row of a query for a crawl and a text.
func (s *Sink) lines(do func(crawl string, line []byte) error, query string, args ...any) error {
	ctx, cancel := within(readTime)
	defer cancel()
	return s.tables.each(ctx, func(rows *sql.Rows) error {
		var crawl string
		var line sql.RawBytes
		if err := rows.Scan(&crawl, &line); err != nil {
			return err
		}
		return do(crawl, line)
	}, query, args...)
}

// Close closes all connections.
func (s *Sink) Close() error { return s.db.Close() }

// partition is a partition of a Sink.
type partition struct {
	sink *Sink
	feed int64
	done []*Chunk // finished, but not committed
}

// Read implements output.Partition.
func (p *partition) Read(r output.Ref) (*output.Commit, error) { return p.sink.Read(r) }

// Close implements output.Partition.
func (p *partition) Close() error {
	p.done = nil
	return nil
}

// Create implements output.Partition.
func (p *partition) Create(n output.Name, g output.Group, _ string) (output.Chunk, error) {
	return newChunk(p.sink.from, n, g, p.sink.hook, func(c *Chunk) { p.done = append(p.done, c) }), nil
}

// prepare creates the views of the chunks' kinds.
func (s *Sink) prepare(chunks []*Chunk) {
	ctx, cancel := within(askTime)
	defer cancel()
	s.warnOfOthers(ctx, chunks)
	s.describeChunks(ctx, chunks)
}

// Commit implements output.Partition.
func (p *partition) Commit(c *output.Commit) (output.Ref, error) {
	chunks := p.done
	p.done = nil
	b, err := newBatch(p.feed, c, chunks)
	if err != nil {
		return output.Ref{}, err
	}
	p.sink.prepare(chunks)
	// After a timeout, the next attempt has twice the time.
	ctx, cancel := within(commitTime << min(p.sink.late.Load(), 5))
	defer cancel()
	stamp, err := p.sink.db.Commit(ctx, b, p.sink.hook)
	if errors.Is(err, context.DeadlineExceeded) {
		p.sink.late.Add(1)
	}
	if err == nil {
		err = p.sink.hook.At(output.StepEntryRenamed)
	}
	if err != nil {
		p.sink.forgetViews() // the cause of this error may also have prevented views
		return output.Ref{}, fmt.Errorf("write rows to %s: %w", p.sink.out, err)
	}
	return output.Ref{Name: c.Name(), Stamp: stamp}, nil
}

var (
	_ output.Sink      = (*Sink)(nil)
	_ output.Log       = (*Sink)(nil)
	_ output.Place     = (*Sink)(nil)
	_ output.Verifier  = (*Sink)(nil)
	_ output.Reader    = (*Sink)(nil)
	_ output.Partition = (*partition)(nil)
)
