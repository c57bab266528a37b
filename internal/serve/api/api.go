// Package api implements the HTTP API of the server below /api/v1: crawls, seeds, specs, hosts,
// URLs, dead letters, records, replays, single pages, webhooks, and the status with a stream of its
// changes. Its OpenAPI document is generated from the handlers, at /api/v1/openapi.json.
//
// It handles requests with a [caller.Caller] in their context, and replies with JSON,
// newline-delimited JSON, or server-sent events. Each operation requires one scope. Every error is
// a problem document (RFC 9457) whose detail says what to do. Replies are bounded: lists have
// pages, and searches read a bounded number of messages.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"seine/internal/base/panics"
	"seine/internal/base/sleep"
	"seine/internal/base/version"
	"seine/internal/serve/answers"
	"seine/internal/serve/audit"
	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
	"seine/internal/serve/replays"
	"seine/internal/serve/scrape"
	"seine/internal/serve/snapshots"
	"seine/internal/serve/turns"
	"seine/internal/serve/webhooks"
	"seine/pkg/stages"
)

// Base is the prefix of all paths.
const Base = "/api/v1"

// Options configure the API.
type Options struct {
	Cluster *cluster.Cluster
	Feed    *snapshots.Feed
	Audit   *audit.Log
	// ReadOnly is reported in the status. The server rejects writes itself.
	ReadOnly bool
	// AllowPrivate permits specs and single requests to reach loopback and private addresses.
	AllowPrivate bool
	// PathPrefix is the prefix that a proxy adds to all paths.
	PathPrefix string
	// BodyTime bounds the time to receive a request body; 0 is a minute.
	BodyTime time.Duration
	// Scraper fetches single pages.
	Scraper *scrape.Scraper
	// Webhooks notifies receivers of events.
	Webhooks *webhooks.Service
	// Replays runs replays.
	Replays *replays.Service
	// Keys is the directory of Idempotency-Keys; with "" they are ignored.
	Keys string
	// Starter starts crawls if no process runs; may be nil.
	Starter Starter
	// Flush commits the records of the crawl in this process; nil if there is none.
	Flush func(context.Context)
	// Out is the output to read records from; "" for the output of the writer named default.
	Out string
	Log *slog.Logger
}

// API is the handler of all operations.
type API struct {
	Options
	mux      *http.ServeMux
	huma     huma.API
	harmless []string
	keys     *keys
	answers  answers.Cache
	logged   rate.Sometimes // limits logged failures, so that a caller in a loop does not fill the log
	bulk     *turns.Turns   // limits operations that use much memory
	tails    *turns.Turns   // limits streams of records, because each has a consumer
}

// New returns the API.
func New(o Options) *API {
	a := &API{Options: o, mux: http.NewServeMux(), answers: answers.Cache{Within: askTime}, logged: rate.Sometimes{Interval: time.Second}, keys: openKeys(o.Keys), bulk: turns.New(8, 32, turnWait), tails: turns.New(8, 32, turnWait)}
	config := huma.DefaultConfig("Seine", version.Number)
	config.Info.Description = "Crawls, and single pages, of a Seine web crawler."
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = Base+"/openapi", "", ""
	config.CreateHooks, config.RejectUnknownQueryParameters = nil, true
	config.Servers = []*huma.Server{{URL: o.PathPrefix + "/"}}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "A token that the server's owner made with seine token create."},
	}
	config.Components.Schemas = newRegistry()
	a.huma = humago.New(a.mux, config)
	server, crawls, urls := serverOperations{a}, crawlOperations{a}, urlOperations{a}
	for _, register := range []func(){
		server.registerStatus, crawls.registerCrawls, crawls.registerSteering, urls.registerSeeds, specOperations{a}.registerSpecs,
		urls.registerHosts, urls.registerURLs, letterOperations{a}.registerDeadLetters, recordOperations{a}.registerRecords,
		pageOperations{a}.registerScrape, webhookOperations{a}.registerWebhooks, server.registerProcesses, replayOperations{a}.registerReplays,
	} {
		register()
	}
	sayText(a.huma.OpenAPI())
	return a
}

// Harmless returns the patterns of operations other than GET that change nothing.
func (a *API) Harmless() []string { return a.harmless }

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := a.mux.Handler(r); pattern == "" {
		a.notFound(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
	if r.Method != http.MethodGet {
		a.answers.Forget() // the request may have changed something
	}
}

const (
	askTime  = 30 * time.Second // bounds an operation, except streams
	turnWait = 10 * time.Second // bounds the wait for an operation with limited concurrency
)

// operation describes an operation.
type operation struct {
	method, path string // relative to Base
	id, summary  string
	about        string
	tag          string
	scope        caller.Scope
	harmless     bool // changes nothing although it is not a GET
	shared       bool // equal requests within a second share a reply, because it queries the frontier
	again        bool // idempotent
	status       int  // on success; 0 is 200, or 204 without a body
	bulk         bool // holds a large body, a spec or a page, so its concurrency is limited
	body         int64
	time         time.Duration // 0 is askTime
	errors       []int
}

// register adds an operation.
func register[I, O any](a *API, op operation, do func(context.Context, *I) (*O, error)) {
	spec := a.describe(&op)
	if op.shared {
		do = share(a, op.id, do)
	}
	huma.Register(a.huma, spec, func(ctx context.Context, in *I) (*O, error) {
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(op.time, askTime))
		defer cancel()
		out, err := panics.Catch(func() (*O, error) { return do(ctx, in) })
		if _, refused := errors.AsType[*stages.PermissionError](err); refused && op.repeatable() {
			out, err = do(ctx, in) // NATS reports a denied permission to all users of a connection; it may concern a different request
		}
		for until := time.Now().Add(cluster.PassTime); err != nil && op.repeatable() && a.Cluster.IsTemporary(err) && time.Now().Before(until); {
			if sleep.For(ctx, cluster.PassPoll) != nil {
				break
			}
			out, err = do(ctx, in)
		}
		if err != nil {
			return nil, a.problemOf(err)
		}
		return out, nil
	})
}

// fresh is how long a reply is reused for equal requests.
const fresh = time.Second

// share makes equal requests share a reply, because many queries would keep the frontier from its
// work.
func share[I, O any](a *API, id string, do func(context.Context, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		return answers.Of(ctx, &a.answers, fmt.Sprintf("%s %#v", id, *in), fresh, func(ctx context.Context) (*O, error) { return do(ctx, in) })
	}
}

// repeatable reports whether the operation may be repeated when its outcome is unknown.
func (op *operation) repeatable() bool { return op.method == http.MethodGet || op.harmless || op.again }

// describe converts an operation to huma's type.
func (a *API) describe(op *operation) huma.Operation {
	if op.harmless {
		a.harmless = append(a.harmless, op.method+" "+Base+op.path)
	}
	spec := huma.Operation{
		OperationID: op.id, Method: op.method, Path: Base + op.path, Summary: op.summary, DefaultStatus: op.status, Tags: []string{op.tag},
		Description:  fmt.Sprintf("%s Needs the scope `%s`.", op.about, op.scope),
		Security:     []map[string][]string{{"token": {string(op.scope)}}},
		MaxBodyBytes: op.body, BodyReadTimeout: cmp.Or(a.BodyTime, time.Minute),
		Errors: append([]int{401, 403, 422, 429, 500, 503, 504}, op.errors...),
	}
	if op.method != http.MethodGet && !op.harmless {
		spec.Middlewares = append(spec.Middlewares, namesSubject)
	}
	spec.Middlewares = append(spec.Middlewares, a.needs(op.scope))
	if op.bulk {
		spec.Middlewares = append(spec.Middlewares, a.inTurn)
	}
	if op.method == http.MethodPost && !op.harmless {
		spec.Parameters = append(spec.Parameters, idempotencyParameter)
		spec.Middlewares = append(spec.Middlewares, a.once)
	}
	return spec
}

// needs is middleware that requires a scope.
func (a *API) needs(s caller.Scope) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		c := caller.Of(ctx.Context())
		if !c.May(s) {
			_ = huma.WriteErr(a.huma, ctx, http.StatusForbidden, lacks(&c, s)) // the client may be gone
			return
		}
		next(ctx)
	}
}

// namesSubject is middleware that records the subject of a write for the audit log, as far as the
// path contains it.
func namesSubject(ctx huma.Context, next func(huma.Context)) {
	s := audit.SubjectOf(ctx.Context())
	*s = audit.Subject{Action: ctx.Operation().OperationID, Crawl: ctx.Param("crawl")}
	for _, of := range []struct{ param, noun string }{{"host", "host"}, {"replay", "replay"}, {"webhook", "webhook"}, {"id", "process"}} {
		if value := ctx.Param(of.param); value != "" {
			s.Object = of.noun + " " + value
		}
	}
	next(ctx)
}

// inTurn is middleware that makes requests wait before their bodies are read.
func (a *API) inTurn(ctx huma.Context, next func(huma.Context)) {
	end := a.bulk.Acquire(ctx.Context(), caller.Of(ctx.Context()).Name)
	if end == nil {
		ctx.SetHeader("Retry-After", "2")
		_ = huma.WriteErr(a.huma, ctx, http.StatusTooManyRequests, cluster.ErrBusy.Error()) // the client may be gone
		return
	}
	defer end()
	next(ctx)
}

// lacks returns the problem text for a caller without a scope.
func lacks(c *caller.Caller, s caller.Scope) string {
	return fmt.Sprintf("%s lacks the scope %s: use a token that has it (seine token create NAME --scope %[2]s)", nameOf(c), s)
}

func nameOf(c *caller.Caller) string {
	if c.Name == "" {
		return "a caller without a token"
	}
	return "the token " + c.Name
}
