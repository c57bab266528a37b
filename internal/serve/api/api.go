// Package api is the HTTP API of the server, below /api/v1: crawls, seeds, specs, hosts, URLs, dead letters,
// records, replays, single pages, webhooks, and how everything stands, as it happens. Its OpenAPI document is made from the
// handlers, at /api/v1/openapi.json.
//
// It consumes requests with a [caller.Caller] in their context, and emits JSON, newline-delimited JSON, or
// server-sent events. Each operation needs one scope of its caller. Every error is a problem document (RFC
// 9457) whose detail says what to do. No answer grows with what there is: lists have pages, and what looks
// through messages looks at so many at a time.
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

// Base is what all paths begin with.
const Base = "/api/v1"

// Options of the API.
type Options struct {
	Cluster *cluster.Cluster
	Feed    *snapshots.Feed
	Audit   *audit.Log
	// ReadOnly says that the server refuses writes; the status has it.
	ReadOnly bool
	// AllowPrivate lets specs and single requests reach loopback and private addresses.
	AllowPrivate bool
	// PathPrefix is what a proxy has before all paths.
	PathPrefix string
	// BodyTime is how long the body of a request may take to come; 0 is a minute.
	BodyTime time.Duration
	// Scraper fetches single pages.
	Scraper *scrape.Scraper
	// Webhooks tells receivers of what happens.
	Webhooks *webhooks.Service
	// Replays runs replays.
	Replays *replays.Service
	// Keys is the directory in which Idempotency-Keys are kept; "" for none: requests are handled without them.
	Keys string
	// Starter begins crawls where nothing runs; may be nil.
	Starter Starter
	// Flush has the crawl that runs in this process, if any, commit its records; nil where none can.
	Flush func(context.Context)
	// Out is the output that records are read from, "" for that of the writer of the name default.
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
	logged   rate.Sometimes // failures: a caller in a loop does not fill the log
	bulk     *turns.Turns   // of operations that hold much memory
	tails    *turns.Turns   // streams of records: each has a consumer
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

// Harmless are the patterns of operations that change nothing although they are no GET.
func (a *API) Harmless() []string { return a.harmless }

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := a.mux.Handler(r); pattern == "" {
		a.notFound(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
	if r.Method != http.MethodGet {
		a.answers.Forget() // whatever has changed
	}
}

const (
	askTime  = 30 * time.Second // bounds an operation, but for streams
	turnWait = 10 * time.Second // for an operation of which few are done at a time
)

// operation is what is registered.
type operation struct {
	method, path string // below Base
	id, summary  string
	about        string
	tag          string
	scope        caller.Scope
	harmless     bool // it changes nothing, and is no GET
	shared       bool // all have one answer who ask the same within a second: it asks the frontier
	again        bool // to do it twice is to do it once
	status       int  // of success; 0 is 200, or 204 if nothing is answered
	bulk         bool // it holds a large body, a spec or a page: few are done at a time
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
			out, err = do(ctx, in) // NATS tells all who use the connection of what it refuses: it may have been another's question
		}
		for until := time.Now().Add(cluster.PassTime); err != nil && op.repeatable() && a.Cluster.Passes(err) && time.Now().Before(until); {
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

// fresh is how long an answer is reused for equal requests.
const fresh = time.Second

// share has one answer for all who ask the same: questions that pile up at the frontier keep it from its work.
func share[I, O any](a *API, id string, do func(context.Context, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		return answers.Of(ctx, &a.answers, fmt.Sprintf("%s %#v", id, *in), fresh, func(ctx context.Context) (*O, error) { return do(ctx, in) })
	}
}

// repeatable reports whether the operation may be done again when it is not known whether it was done.
func (op *operation) repeatable() bool { return op.method == http.MethodGet || op.harmless || op.again }

// describe returns an operation in huma's terms.
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

// needs lets requests with a scope through.
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

// namesSubject is middleware that records for the audit what a write does, as far as its path says.
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

// inTurn is middleware that lets requests wait before their bodies are read.
func (a *API) inTurn(ctx huma.Context, next func(huma.Context)) {
	end := a.bulk.Begin(ctx.Context(), caller.Of(ctx.Context()).Name)
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
