package pages

import (
	"context"
	"errors"
	"net/http"

	"seine/internal/ops/deadletters"
	"seine/internal/ops/history"
	"seine/internal/ops/lookup"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

var errNoPage = errors.New("no page at this address")

// badInput is the error of an invalid request.
type badInput struct{ error }

// forbidden is the error of a request without the required scope.
type forbidden struct{ error }

// notThere is the error of a request for something that does not exist.
type notThere struct{ error }

// problem is an error page.
type problem struct {
	Status int
	Title  string
	Text   string
	Do     string // advice
}

// failed renders the error page.
func (s *server) failed(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	s.logFailure(p.Status, r, err)
	s.render(w, r, p.Status, "error", p.Title, p)
}

// logFailure logs errors of the server, at most one per second.
func (s *server) logFailure(status int, r *http.Request, err error) {
	if status >= http.StatusInternalServerError {
		s.logged.Do(func() { s.Log.Warn("cannot show a page", "path", r.URL.Path, "error", err) })
	}
}

func problemOf(err error) problem {
	var bad badInput
	var none notThere
	var no forbidden
	if refused, ok := errors.AsType[*refusal](err); ok {
		return problem{refused.Status, "That was refused", refused.Detail, "Nothing was changed."}
	}
	if refused, ok := errors.AsType[*stages.PermissionError](err); ok {
		return problem{http.StatusForbidden, "NATS refuses that", refused.Error(), "Run this server as a user whose role may look there: operator can see every page."}
	}
	switch {
	case errors.Is(err, errNoPage), errors.As(err, &none), isNotFound(err), errors.Is(err, deadletters.ErrNone):
		return problem{http.StatusNotFound, "Not found", err.Error(), "Look for it from the overview."}
	case errors.As(err, &no):
		return problem{http.StatusForbidden, "Not for you", err.Error(), "The owner of this server makes tokens with other scopes (seine token create)."}
	case errors.Is(err, cluster.ErrEmpty):
		return problem{http.StatusNotFound, "No crawl exists yet", err.Error(), "The overview shows how to start one."}
	case errors.Is(err, cluster.ErrAway):
		return problem{http.StatusServiceUnavailable, "NATS cannot be reached", err.Error(), "Start the NATS server, or wait: it is tried again."}
	case errors.Is(err, cluster.ErrBusy):
		return problem{http.StatusTooManyRequests, "Too many requests at a time", err.Error(), "Load the page again in a moment."}
	case errors.As(err, &bad), errors.Is(err, history.ErrNotURL):
		return problem{http.StatusBadRequest, "That cannot be shown", err.Error(), "Correct the address or the filter, and try again."}
	case errors.Is(err, frontierapi.ErrUnanswered):
		return problem{
			http.StatusServiceUnavailable, "No frontier answers", err.Error(),
			"Start a frontier, or wait a moment if one was just started: only a frontier knows this.",
		}
	case errors.Is(err, context.DeadlineExceeded):
		return problem{
			http.StatusGatewayTimeout, "The cluster does not answer", "It did not answer within " + askTime.String() + ".",
			"See under Processes which stages run; the NATS server may be away.",
		}
	default:
		return problem{http.StatusBadGateway, "The cluster cannot be queried", err.Error(), "Try again in a moment; the log of the server has more."}
	}
}

func isNotFound(err error) bool {
	_, is := lookup.IsNotFound(err)
	return is
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int { return problemOf(err).Status }
