package api

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/base/version"
	"seine/internal/serve/audit"
	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
	"seine/internal/serve/snapshots"
	"seine/internal/serve/turns"
)

// serverOperations are the operations on the server itself and on the processes.
type serverOperations struct{ *API }

// Status describes the server and the caller's permissions.
type Status struct {
	Version      string         `json:"version"`
	Mode         cluster.Mode   `json:"mode" doc:"What is looked into: processes that run; what a crawl has stored that does not run; nothing yet; a NATS server that cannot be reached."`
	Where        string         `json:"where"`
	ReadOnly     bool           `json:"read_only"`
	AllowPrivate bool           `json:"allow_private"`
	Caller       string         `json:"caller"`
	Scopes       []caller.Scope `json:"scopes" nullable:"false"`
}

func (o serverOperations) registerStatus() {
	register(o.API, operation{
		method: http.MethodGet, path: "/status", id: "get-status", tag: "server", scope: caller.Read,
		summary: "About the server", about: "What the server serves, and what the caller may do.",
	}, o.status)
	register(o.API, operation{
		method: http.MethodGet, path: "/stats", id: "get-stats", tag: "server", scope: caller.Read,
		summary: "How everything stands", about: "Stages, streams, crawls, hosts, alerts and dead letters, with rates; at most a few seconds old.",
	}, o.stats)
	register(o.API, operation{
		method: http.MethodGet, path: "/audit", id: "list-audit", tag: "server", scope: caller.Audit,
		summary: "Who changed what", about: "Changes by way of this server, including refused ones, newest first.",
	}, o.listAudit)
	o.registerEvents()
}

func (o serverOperations) status(ctx context.Context, _ *struct{}) (*body[Status], error) {
	c := caller.Of(ctx)
	return &body[Status]{Status{
		Version: version.Number, Mode: o.Cluster.Mode(ctx), Where: o.Cluster.Where(), ReadOnly: o.ReadOnly, AllowPrivate: o.AllowPrivate,
		Caller: c.Name, Scopes: c.Scopes,
	}}, nil
}

// stats is an encoded snapshot.
type stats struct{ raw }

// Schema returns the schema of a snapshot.
func (stats) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[snapshots.Snapshot](), true, "")
}

// stats returns the last snapshot of the shared feed.
func (o serverOperations) stats(ctx context.Context, _ *struct{}) (*body[stats], error) {
	s := o.Feed.Last()
	if s == nil {
		news, end := o.Feed.Watch()
		defer end()
		select {
		case s = <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &body[stats]{stats{raw(s.JSON())}}, nil
}

type auditInput struct {
	Cursor string `query:"cursor" doc:"Of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

func (o serverOperations) listAudit(_ context.Context, in *auditInput) (*body[page[audit.Entry]], error) {
	before, err := number(in.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := o.Audit.Newest(before, in.Limit)
	if err != nil {
		return nil, err
	}
	next := uint64(0)
	if len(all) == in.Limit && all[len(all)-1].ID > 1 {
		next = all[len(all)-1].ID
	}
	return answerOf(pageOf(all, cursorOf(next)), nil)
}

// cursorOf returns a number as a cursor, "" for 0.
func cursorOf(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// number parses such a cursor, 0 for "".
func number(cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return 0, badCursor()
	}
	return n, nil
}

func badCursor() error {
	return newProblem(http.StatusUnprocessableEntity, cursorDetail)
}

// Times of the event stream.
const (
	heartbeat = 15 * time.Second // detects lost connections
	takeTime  = 10 * time.Second // a client that does not accept an event in this time is gone
)

// maxEvents bounds the open event streams.
const maxEvents = 500

type eventsInput struct {
	Brief bool `query:"brief" doc:"Leave out the overview: the event says only that there is another."`
}

// registerEvents adds the event stream. Each event is encoded once for all clients.
func (o serverOperations) registerEvents() {
	registerStream(o.API, operation{
		method: http.MethodGet, path: "/events", id: "stream-events", tag: "server", scope: caller.Read,
		summary: "Stream of the cluster's status",
		about:   "Server-sent events of the type `stats`, every 2 s, each as `GET /api/v1/stats` answers. One connection is enough for all tabs of a browser.",
	}, "text/event-stream", turns.New(maxEvents, maxEvents, 0), func(_ context.Context, in *eventsInput) (func(huma.Context), error) {
		return func(ctx huma.Context) { o.sendEvents(ctx, in) }, nil
	})
}

func (o serverOperations) sendEvents(ctx huma.Context, in *eventsInput) {
	ctx.SetHeader("X-Accel-Buffering", "no") // for nginx
	s := newStream(ctx)
	news, end := o.Feed.Watch()
	defer end()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for ok := s.send([]byte("retry: 2000\n\n")); ok; {
		select {
		case <-ctx.Context().Done():
			return
		case <-beat.C:
			ok = s.send([]byte(": still here\n\n"))
		case snapshot := <-news:
			text := snapshot.JSON()
			if in.Brief {
				text = []byte("{}")
			}
			ok = s.send(bytes.Join([][]byte{[]byte("event: stats\ndata: "), text, []byte("\n\n")}, nil))
		}
	}
}
