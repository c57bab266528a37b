package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/serve/caller"
)

// turns bounds how many operations of a kind are done at a time: those of one caller, and those of all.
type turns struct {
	each, all int

	mu    sync.Mutex
	held  map[string]int // by the caller's name
	total int
	freed chan struct{} // closed when a turn has ended
}

func newTurns(each, all int) *turns {
	return &turns{each: each, all: all, held: make(map[string]int), freed: make(chan struct{})}
}

// turnTime bounds how long a request waits for its turn.
const turnTime = 10 * time.Second

// begin waits for a turn, and reports whether it has come.
func (t *turns) begin(ctx context.Context, who string) bool {
	ctx, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	for {
		t.mu.Lock()
		freed := t.freed
		free := t.total < t.all && t.held[who] < t.each
		if free {
			t.total++
			t.held[who]++
		}
		t.mu.Unlock()
		if free {
			return true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (t *turns) end(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total--
	if t.held[who]--; t.held[who] == 0 {
		delete(t.held, who)
	}
	close(t.freed)
	t.freed = make(chan struct{})
}

// inTurn is middleware that lets requests wait before their bodies are read.
func (a *API) inTurn(t *turns) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		who := caller.Of(ctx.Context()).Name
		if !t.begin(ctx.Context(), who) {
			ctx.SetHeader("Retry-After", "2")
			_ = huma.WriteErr(a.huma, ctx, http.StatusTooManyRequests, "too many requests of this kind at a time: send fewer in parallel, or try again in a moment") // the client may be gone
			return
		}
		defer t.end(who)
		next(ctx)
	}
}
