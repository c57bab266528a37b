package overview

import (
	"fmt"
	"slices"
	"strings"

	"seine/pkg/messages"
)

// Full returns the used share of a stream's limit, 0 if it has no limit.
func (s *Stream) Full() float64 {
	if s.Limit <= 0 {
		return 0
	}
	return float64(s.Bytes) / float64(s.Limit)
}

// NearlyFull reports whether a stream is so full that it blocks its publishers now or soon. DEAD
// never does, because it drops its oldest letters.
func (s *Stream) NearlyFull() bool {
	const nearlyFull = 0.9
	return s.Full() > nearlyFull && s.Name != messages.StreamDead
}

// Missing returns the stages without a process, in pipeline order: every stage that has consumers,
// and at least one of each kind. The renderer is missing only if it has work. A stage that is
// missing in a single overview may just be busy.
func (o *Overview) Missing() (missing []string) {
	for _, stage := range order {
		known := false
		for i := range o.Stages {
			s := &o.Stages[i]
			if kindOf(s.Name) != stage {
				continue
			}
			known = true
			if s.Instances == 0 && (stage != messages.StageRenderer || o.needsRenderer(s)) {
				missing = append(missing, s.Name)
			}
		}
		if !known && stage != messages.StageRenderer {
			missing = append(missing, stage)
		}
	}
	return missing
}

// needsRenderer reports whether requests wait for a renderer or may do so soon.
func (o *Overview) needsRenderer(s *Stage) bool {
	return s.Lag > 0 || s.InFlight > 0 || len(o.Rendering()) > 0
}

// Rendering returns the names of the running crawls whose specs may render pages.
func (o *Overview) Rendering() (names []string) {
	for i := range o.Crawls {
		if c := &o.Crawls[i]; c.Spec != nil && c.Spec.MayRender() && c.State == Running {
			names = append(names, c.Name)
		}
	}
	return names
}

// warn sets the warnings of o, given the previous overview.
func (o *Overview) warn(before *Overview) {
	then := before.Missing()
	missing := slices.DeleteFunc(o.Missing(), func(stage string) bool { return !slices.Contains(then, stage) })
	o.Warnings = nil
	if len(missing) > 0 {
		o.Warnings = append(o.Warnings, "no running "+strings.Join(missing, ", "))
	}
	for i := range o.Streams {
		if s := &o.Streams[i]; s.NearlyFull() {
			o.Warnings = append(o.Warnings, fmt.Sprintf("stream %s is %.0f%% full", s.Name, 100*s.Full()))
		}
	}
}
