package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
	"seine/internal/serve/responsebuffer"
)

// idempotencyHeader identifies a request, so that repeating it has no effect.
const idempotencyHeader = "Idempotency-Key"

// idempotencyParameter documents the header.
var idempotencyParameter = &huma.Param{
	Name: idempotencyHeader, In: "header",
	Description: "A unique name for this request. If it is sent again with the same name within a day, it is not repeated, and the response is the same.",
	Schema:      &huma.Schema{Type: "string", MaxLength: new(maxKey)},
}

// Bounds of requests with a key, and of stored replies.
const (
	maxKey     = 255
	maxKeyed   = 1 << 20 // bytes of the body, for operations without another bound
	maxAnswer  = 32 << 10
	statusKept = http.StatusBadRequest // replies with a lower status are stored; others changed nothing, or may differ the next time
)

// once is middleware for operations that accept an Idempotency-Key. It runs after the check of the
// scope, so that requests without permission store nothing.
func (a *API) once(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	key := r.Header.Get(idempotencyHeader)
	if key == "" {
		next(ctx)
		return
	}
	if len(key) > maxKey {
		problem.Write(w, http.StatusBadRequest, "the Idempotency-Key is longer than 255 characters: give a shorter one, such as a UUID")
		return
	}
	op := ctx.Operation()
	_ = ctx.SetReadDeadline(time.Now().Add(op.BodyReadTimeout)) // a recorder in a test has none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, cmp.Or(op.MaxBodyBytes, maxKeyed)))
	if err != nil {
		status, detail := http.StatusBadRequest, "the body cannot be read: send it again"
		if errors.As(err, new(*http.MaxBytesError)) {
			status, detail = http.StatusRequestEntityTooLarge, "the body is too large: send less at a time"
		}
		problem.Write(w, status, detail)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	file, request := a.keys.file(caller.Of(r.Context()).Name, r.URL.RequestURI(), key), digest(string(body))
	have, err := a.keys.begin(file, request)
	switch {
	case err == nil && have == nil:
		a.record(file, request, w, func(w http.ResponseWriter) { next(humago.NewContext(op, r, w)) })
	case err == nil && have.Cut:
		problem.Write(w, http.StatusConflict, "the request with this Idempotency-Key was handled; its response was too large to be kept: check what it has changed")
	case err == nil:
		w.Header().Set("Idempotency-Replayed", "true")
		have.writeTo(w)
	case errors.Is(err, errOtherRequest):
		problem.Write(w, http.StatusUnprocessableEntity, "the Idempotency-Key was used for another request: use a new key for each request")
	case errors.Is(err, errInFlight):
		w.Header().Set("Retry-After", "1")
		problem.Write(w, http.StatusConflict, "the request of this Idempotency-Key is in flight: send it again in a moment")
	case errors.Is(err, errUnknownEnd):
		a.Log.Warn("it is not known whether the request of an Idempotency-Key was handled", "file", file, "error", err)
		problem.Write(w, http.StatusConflict, "the outcome of the request with this Idempotency-Key is unknown: another server handles it, the server stopped, or the stored answer is damaged. Check whether it took effect; if not, send it with another key")
	default:
		a.Log.Error("cannot store an Idempotency-Key", "error", err)
		problem.Write(w, http.StatusInternalServerError, "the Idempotency-Key cannot be stored, so nothing was done: see the log of the server")
	}
}

// record handles a request, and stores the reply on success.
func (a *API) record(file, request string, w http.ResponseWriter, do func(http.ResponseWriter)) {
	out, kept := responsebuffer.New(), (*answer)(nil)
	defer func() {
		if err := a.keys.end(file, kept); err != nil {
			a.Log.Error("cannot store the answer to an Idempotency-Key", "error", err)
		}
	}()
	do(out)
	all := &answer{Request: request, Status: out.Status, Header: out.Header(), Body: out.Body.Bytes()}
	all.writeTo(w)
	if all.Status < statusKept {
		kept = all
		if kept.Cut = len(all.Body) > maxAnswer; kept.Cut {
			kept.Body = nil
		}
	}
}

// writeTo sends the reply.
func (a *answer) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client may be gone
}

func digest(text string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
}
