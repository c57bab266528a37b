package history

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/schedule/traps"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Row is a line of a history in plain text: a name and its value. Times are in UTC, in RFC 3339
// format. Text from sites is not escaped.
type Row struct{ Name, Text string }

// nameWidth is the width of the names of rows, in columns.
const nameWidth = 11

// Write writes the history as plain text, in 80 columns.
func (h *History) Write(w io.Writer) error {
	var b bytes.Buffer
	safeprint.Fprintln(&b, cmp.Or(h.URL, h.Asked))
	for _, r := range h.Rows() {
		safeprint.Row(&b, nameWidth, r.Name, r.Text)
	}
	_, err := b.WriteTo(w)
	return err
}

// Rows returns the history as rows, without the URL as the crawl knows it.
func (h *History) Rows() []Row {
	e := text{History: h, rows: new([]Row)}
	e.all()
	return *e.rows
}

// text formats a history.
type text struct {
	*History
	rows *[]Row
}

func (e text) all() {
	switch { // the first line has the URL as the crawl knows it
	case e.Canonical == "":
	case e.Canonical != e.URL:
		e.row("normalized", "from "+e.Canonical+", by the spec")
	case e.Canonical != e.Asked:
		e.row("canonical", "of "+e.Asked)
	}
	if e.Behind {
		e.row("behind", "its partition has a new owner, which catches up: ask again in a moment")
	}
	if !e.Known {
		e.unknown()
		return
	}
	e.frontier()
	e.streams()
	e.archive()
	e.written()
	e.letters()
	e.searched()
}

// row adds a row.
func (e text) row(name, value string) { *e.rows = append(*e.rows, Row{name, value}) }

// frontier adds the frontier's state of the URL.
func (e text) frontier() {
	e.row("crawl", fmt.Sprintf("%s, partition %d", e.Crawl, e.Partition))
	e.row("state", e.State+since(e.ChangedMS))
	if e.Reason != "" {
		e.row("reason", e.Reason)
	}
	if e.Warning != "" {
		e.row("incomplete", e.Warning)
	}
	if e.LeftOut != "" {
		e.row("left out", e.LeftOut)
	}
	e.rulesNow()
	found := fmt.Sprintf("depth %d, priority %d", e.Depth, e.Priority)
	switch {
	case e.Seed && e.Referrer == "":
		found += ", a seed"
	case e.Seed:
		found += ", redirected from a seed"
	}
	e.row("found", found)
	if e.Referrer != "" {
		e.row("on", e.Referrer)
	}
	if len(e.Metadata) > 0 {
		e.row("metadata", metadata(e.Metadata, e.Inherit))
	}
	for _, h := range e.From {
		e.row("redirected", "from "+describeHop(h))
	}
	for _, h := range e.To {
		e.row("redirects", "to "+describeHop(h))
	}
	e.row("visit", fmt.Sprintf("%s, sent %s, %d failed", e.Visit, times(e.Sent), e.Failures))
	if e.Trace != "" {
		e.row("trace", e.Trace)
	}
	if e.NextMS > 0 {
		e.row("next", moment(e.NextMS))
	}
	e.host()
	for _, a := range e.History.History {
		e.row("attempt", fmt.Sprintf("%s  %s%s, %d ms", moment(a.AtMS), a.Class, status(a.Status), a.TookMS))
	}
}

// rulesNow adds the verdict of the spec on the URL, and the remedy.
func (e text) rulesNow() {
	e.row("rules now", verdict(&e.Now))
	remedy := e.Remedy
	if n := len(e.Results); n > 0 && e.Now.Reason == frontierapi.ReasonType {
		remedy = fmt.Sprintf("its content type is %s: add it to accept, or a rule that reads it (jq for JSON)", cmp.Or(e.Results[n-1].ContentType, "unknown"))
	}
	if remedy != "" {
		e.row("remedy", remedy)
	}
}

// metadata formats the metadata of a seed.
func metadata(m messages.Metadata, inherit bool) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, name+"="+m[name])
	}
	text := strings.Join(all, ", ")
	if inherit {
		text += " (inherited by what is found on it)"
	}
	return text
}

// host adds the reason why a pending URL waits.
func (e text) host() {
	h := e.Host
	waits := e.NextMS > 0 || e.State == frontierapi.StateQueued || e.State == frontierapi.StateWaiting
	switch {
	case h == nil || !waits:
	case h.Why != "":
		e.row("host", fmt.Sprintf("%s waits: %s, until %s", h.Host, h.Why, moment(h.NextMS)))
	case h.InFlight > 0:
		e.row("host", fmt.Sprintf("%s has %d in flight and %d queued", h.Host, h.InFlight, h.Queued))
	}
}

// taker returns the stage that takes a request, given its subject.
func taker(subject string) string {
	if strings.HasPrefix(subject, "seine.render.") {
		return messages.StageRenderer
	}
	return messages.StageFetcher
}

// streams adds the messages in the streams.
func (e text) streams() {
	switch {
	case e.Request != nil:
		e.row("FETCH", fmt.Sprintf("%d, since %s: a %s has it, or will", e.Request.Seq, clock(e.Request.At), taker(e.requestSubject)))
	case e.FetchSeq > 0:
		e.row("FETCH", fmt.Sprintf("%d, which is gone: its result is on its way", e.FetchSeq))
	}
	for _, r := range e.Results {
		text := fmt.Sprintf("%s%s, attempt %d", r.Class, status(r.Status), r.Attempt)
		if r.IP != "" {
			text += ", sent to " + r.IP
		}
		if r.Fetcher != "" {
			text += ", by fetcher " + r.Fetcher
		}
		if r.Error != "" {
			text += ": " + r.Error
		}
		e.message(r.StoredMessage, text)
		if r.Rendered != "" {
			e.row("rendered", fmt.Sprintf("%s; the page made %s beside the one for its document", r.Rendered, humanize.Plural(r.Requisites, "request")))
		}
		if r.Actions != "" {
			e.row("actions", r.Actions)
		}
		if r.NotRendered != "" {
			e.row("not rendered", r.NotRendered)
		}
		for _, p := range r.RenderProblems {
			e.row("page lacks", p.String())
		}
	}
	for _, p := range e.Pages {
		text := fmt.Sprintf("%s, body %s, stored as %s", cmp.Or(p.ContentType, "no type"), humanize.Size(p.BodySize), humanize.Size(int64(p.Size)))
		if p.Object != "" {
			text += ", in the object " + p.Object
		}
		if p.Gone {
			text += ", which is deleted"
		}
		e.message(p.StoredMessage, text)
		if !p.DuplicateOf.IsZero() {
			how := "nearly repeats"
			if p.Exact {
				how = "repeats"
			}
			e.row("duplicate", how+" the page of visit "+p.DuplicateOf.String())
		}
	}
	for _, why := range e.NoRecord {
		e.row("no record", why)
	}
	if len(e.NoRecord) > 0 {
		e.row("try", "seine extract URL --spec FILE shows what each selector finds")
	}
	for _, r := range e.Records {
		e.message(r.StoredMessage, fmt.Sprintf("%s, %s", r.Kind, humanize.Size(int64(r.Size))))
		for _, file := range r.Files {
			e.row("file", file)
		}
		if r.Table != "" {
			e.row("table", r.Table)
		}
		if e.Out && r.Commit == "" {
			e.row("file", "none yet: it is in no commit of --out")
		}
	}
}

// archive adds the captures in an archive.
func (e text) archive() {
	for _, c := range e.Captures {
		e.row("archive", fmt.Sprintf("%s  %s %s of %s, at offset %d, %d bytes", c.File, c.Status, c.MIME, c.Timestamp, c.Offset, c.Length))
	}
	switch {
	case e.Sealed:
		e.row("archive", "its indexes are encrypted: seine decrypt --beside makes them readable, grep then finds the URL in them")
	case e.Archive && len(e.Captures) == 0:
		e.row("archive", "no index of the files has it that were committed when the attempts above were made")
	}
}

func (e text) message(at StoredMessage, text string) {
	e.row(at.Stream, fmt.Sprintf("%d  %s  %s", at.Seq, clock(at.At), text))
}

// written adds the positions of the writers.
func (e text) written() {
	for _, w := range e.Writers {
		stored, done := 0, 0
		for _, at := range e.messages() {
			if at.Stream != w.Stream {
				continue
			}
			if stored++; at.Seq <= w.Committed {
				done++
			}
		}
		if stored > 0 {
			e.row("writer", fmt.Sprintf("%s has committed %d of %d (%s up to %d)", w.Name, done, stored, w.Stream, w.Committed))
		}
	}
}

// messages returns all messages of the visits in the streams.
func (e text) messages() (all []StoredMessage) {
	for _, r := range e.Results {
		all = append(all, r.StoredMessage)
	}
	for _, p := range e.Pages {
		all = append(all, p.StoredMessage)
	}
	for _, r := range e.Records {
		all = append(all, r.StoredMessage)
	}
	return all
}

func (e text) letters() {
	for i := range e.Dead {
		l := &e.Dead[i]
		e.row("DEAD", fmt.Sprintf("%d  %s  %s: %s", l.Seq, clock(l.Time), l.Stage, l.Reason))
	}
}

// searched adds the searches without a result, with possible reasons.
func (e text) searched() {
	found := make(map[string]int)
	for _, at := range e.messages() {
		found[at.Stream]++
	}
	for _, s := range e.Searches {
		if !s.Cut && s.Stream != messages.StreamResults && !e.fetched() {
			continue // no attempt has fetched a page
		}
		explained := s.Stream == messages.StreamRecords && len(e.NoRecord) > 0
		if s.Purged || s.Cut || found[s.Stream] == 0 && !explained {
			e.row(s.Stream, missing(&s, found[s.Stream]))
		}
	}
}

// fetched reports whether a remembered attempt fetched a page.
func (e text) fetched() bool {
	return slices.ContainsFunc(e.History.History, func(a frontierapi.Attempt) bool { return a.Class == messages.OK })
}

// missing describes messages that may be missing from a stream.
func missing(s *Search, found int) string {
	text := "no more"
	if found == 0 {
		text = "nothing"
	}
	for i, w := range s.Windows {
		text += map[bool]string{true: " between ", false: ", or "}[i == 0] + clock(w.From) + " and " + clock(w.To)
	}
	switch {
	case s.Cut:
		text += fmt.Sprintf("; only %d messages were looked at", s.Looked)
	case s.Purged && s.Oldest.IsZero():
		text += "; the stream is empty now"
	case s.Purged:
		text += "; the stream begins with " + clock(s.Oldest) + " now"
	case found == 0 && s.Stream != messages.StreamRecords:
		text += "; --within looks further"
	}
	return text
}

// unknown adds hints for a URL that the crawl does not know.
func (e text) unknown() {
	switch {
	case e.Canonical == "":
		e.row("state", "not a URL")
	case e.Now.Unknown:
		e.row("state", "unknown: crawl "+e.Crawl+" knows no URL of this partition (--crawl names another)")
	default:
		e.row("state", "unknown to crawl "+e.Crawl+": it was neither added as a seed nor found on a page")
		e.row("perhaps", "no page links to it, or the page that does was excluded, has failed or is not fetched yet: explain that page")
		e.row("perhaps", "a page links to it, but Seine does not follow the link: it or its page is nofollow, or links.follow of the spec excludes its kind")
	}
	if e.Canonical != "" && !e.Now.Unknown {
		e.rulesNow()
	}
	for _, n := range e.Near {
		text := n.URL + " is " + n.State
		if n.Reason != "" {
			text += " (" + n.Reason + ")"
		}
		if n.Crawl != e.Crawl {
			text = "crawl " + n.Crawl + ": " + text
		}
		e.row("known", text)
	}
	e.letters()
}

// verdict formats the verdict of the spec.
func verdict(v *frontierapi.Verdict) string {
	spec := "the defaults"
	if v.Rev > 0 {
		spec = fmt.Sprintf("revision %d of the spec", v.Rev)
	}
	if v.Reason == "" {
		return "not excluded by " + spec
	}
	if v.Stands {
		return "excluded by no rule of " + spec + "; " + v.Reason + " stands: " + found(v.Reason)
	}
	text := "excluded by " + spec + ": " + v.Reason
	if keys := traps.Reason(v.Reason).Keys(); keys != "" && v.Rule == "" {
		text += ", by " + keys
	}
	if v.Rule != "" {
		text += ", " + v.Rule
	}
	return text
}

// found explains the reason of a URL that no rule of the spec excludes.
func found(reason string) string {
	switch reason {
	case frontierapi.ReasonRobots, frontierapi.ReasonAddress, frontierapi.ReasonType:
		return "this was found when the URL was requested, and is evaluated again when the URL is added again"
	case frontierapi.ReasonNormalized:
		return "the crawl has it under another URL"
	}
	why := "this was found by comparing it with earlier URLs; "
	if keys := traps.Reason(reason).Keys(); keys != "" {
		return why + "to fetch it, set " + keys + " to 0 in the spec, or add it as a seed"
	}
	return why + "add it as a seed to fetch it"
}

func describeHop(h Hop) string {
	switch {
	case h.Loop:
		return h.URL + " again: a loop"
	case h.State == "":
		return h.URL + ", which is not known"
	}
	return h.URL + ", " + h.State + status(h.Status)
}

// status formats the status of a response with a leading space, "" for 0.
func status(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf(" %d", code)
}

func since(ms int64) string {
	if ms == 0 {
		return ""
	}
	return " since " + moment(ms)
}

// times returns "once" or "3 times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func moment(ms int64) string { return clock(time.UnixMilli(ms)) }

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
