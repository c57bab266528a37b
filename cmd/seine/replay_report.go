package main

import (
	"io"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/run/replay"
	"seine/pkg/messages"
)

// printReplay prints the report of a replay.
func printReplay(w io.Writer, r *replay.Report) {
	row := func(name, format string, a ...any) {
		safeprint.Fprintf(w, "  %-12s "+format+"\n", append([]any{name}, a...)...)
	}
	safeprint.Fprintf(w, "replay of %s: %s\n\n", strings.ToLower(r.Stream), replayHeadline(r))
	name := "records"
	if r.Stream == messages.StreamPages {
		name = "pages"
	}
	row("chosen", "%s, of sequences %d to %d", humanize.Plural(r.Chosen, strings.TrimSuffix(name, "s")), r.FromSeq, r.ToSeq)
	if r.Gone > 0 {
		row("gone", "%s purged before they were read", were(int(r.Gone), strings.TrimSuffix(name, "s")))
	}
	if r.FirstSeq > 1 {
		row("purged", "messages before sequence %d, stored %s", r.FirstSeq, r.FirstTime.Local().Format(time.DateTime))
	}
	if name == "pages" {
		row("parsed", "%s", humanize.Count(r.Parsed))
	}
	if r.Unparsed > 0 {
		row("not parsed", "%s", humanize.Count(r.Unparsed))
	}
	row("records", "%s%s", humanize.Count(r.Records), byKind(r.Kinds))
	if r.Repeats > 0 {
		row("repeats", "%s stored several times, written once", were(int(r.Repeats), "record"))
	}
	for i, d := range r.Dead {
		title := ""
		if i == 0 {
			title = "dead letters"
		}
		stage := d.Stage
		if stage != "" {
			stage += ": "
		}
		row(title, "%s × %s%s", humanize.Count(d.Count), stage, d.Reason)
		if d.URL != "" {
			row("", "such as %s", d.URL)
		}
	}
	if r.Letters != "" {
		row("", "all of them are in %s", r.Letters)
	}
	row("time", "%s, %.0f %s/s", (time.Duration(r.Seconds * float64(time.Second))).Round(10*time.Millisecond), r.PerSecond, name)
	switch {
	case r.Generation != "":
		row("output", "generation %s of the records of the crawl", r.Generation)
	case r.Files > 0:
		row("output", "%s, %s in %s", humanize.Plural(r.Files, "file"), humanize.Size(r.Bytes), r.Out)
	default:
		row("output", "%s", r.Out)
	}
}

func byKind(kinds map[string]int64) string {
	if len(kinds) == 0 {
		return ""
	}
	return ": " + humanize.ByCount(kinds)
}

func replayHeadline(r *replay.Report) string {
	switch {
	case r.Again:
		return "was complete before, so nothing was done: to replay newer pages, or by a changed spec, remove its --state and output or name others"
	case r.Outcome == replay.Interrupted:
		return "interrupted; run the same command again to resume"
	case r.Outcome == replay.Failed:
		return "failed: " + r.Error
	case r.Chosen == 0:
		return "complete: no message in the stream matches"
	}
	return "complete"
}
