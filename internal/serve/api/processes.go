package api

import (
	"context"
	"errors"
	"net/http"

	"seine/internal/ops/procstats"
	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
)

func (o serverOperations) registerProcesses() {
	register(o.API, operation{
		method: http.MethodGet, path: "/processes", id: "list-processes", shared: true, tag: "processes", scope: caller.Read,
		summary: "Processes that run", about: "With their memory and disks, in bytes, and whether they are ready, or drain.",
	}, o.listProcesses)
	register(o.API, operation{
		method: http.MethodPost, path: "/processes/{id}/drain", id: "drain-process", tag: "processes", scope: caller.Write, again: true, status: http.StatusAccepted, errors: []int{404, 409},
		summary: "Drain a process", about: "Like SIGTERM: it accepts no new work, finishes or returns what it has, and ends; a supervisor may start it again. A crawl in one process must be ended where it runs.",
	}, o.drainProcess)
}

func (o serverOperations) listProcesses(ctx context.Context, _ *struct{}) (*body[page[procstats.Process]], error) {
	out, err := ask(ctx, o.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (page[procstats.Process], error) {
		all, err := procstats.Collect(ctx, bus.NC)
		return pageOf(all, ""), err
	})
	if errors.Is(err, cluster.ErrEmpty) {
		return answerOf(pageOf[procstats.Process](nil, ""), nil)
	}
	return out, err
}

func (o serverOperations) drainProcess(ctx context.Context, in *struct {
	ID string `path:"id" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9]+$" patternDescription:"letters and digits" doc:"ID of the process."`
}) (*body[procstats.Process], error) {
	return ask(ctx, o.Cluster.Do, func(ctx context.Context, bus *stages.Bus) (procstats.Process, error) {
		return procstats.Drain(ctx, bus.NC, in.ID)
	})
}
