package figures

import "slices"

// ring keeps the last point of each time step, up to a number of points. Steps without a poll are
// missing.
type ring struct {
	Step   int64 // seconds
	Most   int
	Points []Point // the oldest first
}

// add adds a point, or replaces the one of the same step.
func (r *ring) add(p Point) {
	if n := len(r.Points); n > 0 && p.At/r.Step <= r.Points[n-1].At/r.Step {
		r.Points[n-1] = p
		return
	}
	if len(r.Points) >= r.Most {
		r.Points = slices.Delete(r.Points, 0, max(1, r.Most/8)) // several at a time, because the rest is moved
	}
	r.Points = append(r.Points, p)
}

// since returns the points from a time on, and the one before them, from which the first rate is
// computed.
func (r *ring) since(at int64) []Point {
	i, _ := slices.BinarySearchFunc(r.Points, at, func(p Point, at int64) int { return int(p.At - at) })
	return r.Points[max(0, i-1):]
}

// Steps and lengths of the rings.
const (
	fineStep, fineMost     = 5, 3600 / 5 * 9 / 8
	coarseStep, coarseMost = 60, 24 * 60 * 9 / 8
)

// series holds the points of an hour and of a day.
type series struct{ Fine, Coarse ring }

func newSeries() *series {
	return &series{Fine: ring{Step: fineStep, Most: fineMost}, Coarse: ring{Step: coarseStep, Most: coarseMost}}
}

func (s *series) add(p Point) {
	s.Fine.add(p)
	s.Coarse.add(p)
}

// last returns the newest point, nil if there is none.
func (s *series) last() *Point {
	if n := len(s.Fine.Points); n > 0 {
		return &s.Fine.Points[n-1]
	}
	return nil
}

// rate returns the pages per second over about the given seconds before the newest point; 0 if
// there is too little data.
func (s *series) rate(seconds int64) float64 {
	now := s.last()
	if now == nil {
		return 0
	}
	was := s.Fine.since(now.At - seconds)[0]
	if took := now.At - was.At; took > 0 && took <= seconds+apart && now.Pages > was.Pages {
		return float64(now.Pages-was.Pages) / float64(took)
	}
	return 0
}
