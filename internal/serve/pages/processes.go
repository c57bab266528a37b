package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"seine/internal/ops/doctor"
	"seine/internal/ops/leases"
	"seine/internal/ops/overview"
	"seine/internal/ops/procstats"
	"seine/pkg/stages"
)

// processesPage lists the processes and the owners of partitions.
type processesPage struct {
	Processes []procstats.Process
	Stages    []overview.Stage
	Streams   []overview.Stream
	Leases    []leases.Group
	Findings  []doctor.Finding
}

func (s *server) processes(r *http.Request) (any, error) {
	p, err := asked(r.Context(), s, "processes", 2*fresh, func(ctx context.Context, bus *stages.Bus) (p processesPage, err error) {
		if p.Processes, err = procstats.Collect(ctx, bus.NC); err != nil {
			return p, err
		}
		slices.SortFunc(p.Processes, func(a, b procstats.Process) int {
			return cmp.Or(strings.Compare(a.Stage, b.Stage), strings.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID))
		})
		if p.Leases, err = leases.Read(ctx, bus); err != nil {
			return p, err
		}
		p.Findings = doctor.Examine(ctx, bus, "")
		return p, nil
	})
	if look := s.look(r.Context()).Overview; look != nil {
		p.Stages, p.Streams = look.Stages, look.Streams
	}
	return p, err
}

// drain handles POST /processes/{id}/drain.
func (s *server) drain(r *http.Request) (to, said string, err error) {
	var p procstats.Process
	err = s.carryOut(r, http.MethodPost, "/processes/"+url.PathEscape(r.PathValue("id"))+"/drain", nil, "", &p)
	return "/processes", p.Name() + " finishes what it has, and ends.", err
}
