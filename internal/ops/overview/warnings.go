package overview

import (
	"fmt"
	"slices"
	"strings"

	"seine/pkg/messages"
)

// Full returns the part of its limit that a stream fills, 0 if it has none.
func (s *Stream) Full() float64 {
	if s.Limit <= 0 {
		return 0
	}
	return float64(s.Bytes) / float64(s.Limit)
}

// NearlyFull reports that a stream is so full that it holds back who publishes to
// it, or will soon. DEAD does not: it drops its oldest letters.
func (s *Stream) NearlyFull() bool {
	const nearlyFull = 0.9
	return s.Full() > nearlyFull && s.Name != messages.StreamDead
}

// Missing returns the stages without a process, in the order of the pipeline: each
// that has consumers, and one of each kind at least. The renderer is missing only where it
// has something to do. A process that did not answer in one look may have been busy.
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

// needsRenderer reports whether something waits for a renderer, or may in a moment.
func (o *Overview) needsRenderer(s *Stage) bool {
	return s.Lag > 0 || s.InFlight > 0 || len(o.Rendering()) > 0
}

// Rendering returns the names of the crawls that continue and whose specs may want pages
// rendered.
func (o *Overview) Rendering() (names []string) {
	for i := range o.Crawls {
		if c := &o.Crawls[i]; c.Spec != nil && c.Spec.MayRender() && c.State == Running {
			names = append(names, c.Name)
		}
	}
	return names
}

// warn fills in the warnings of o, which came after before.
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
