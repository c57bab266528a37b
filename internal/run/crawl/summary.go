package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/output"
	"seine/internal/run/connect"
	"seine/internal/schedule/traps"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/writer"
)

// report makes the summary of a crawl.
type report struct{ *crawl }

// Outcome is how a run ended.
type Outcome string

// Outcomes of a run.
const (
	OutcomeComplete    Outcome = "complete"
	OutcomeCancelled   Outcome = "cancelled"
	OutcomeLimit       Outcome = "limit"       // the crawl reached a limit of the spec
	OutcomeInterrupted Outcome = "interrupted" // the same command continues it
	OutcomeFailed      Outcome = "failed"
	OutcomeDeleted     Outcome = "deleted" // the crawl was deleted during the run
)

// Summary is the result of a run. Counts cover all runs of the crawl; Seconds and PagesPerSecond
// cover this run.
type Summary struct {
	Outcome             Outcome                  `json:"outcome"`
	Limit               string                   `json:"limit,omitempty"` // key of the limit that was reached: max_pages, max_bytes or max_duration
	Error               string                   `json:"error,omitempty"`
	NoPagesReason       string                   `json:"nothing,omitempty"` // why no page, or no page except the seeds, was fetched
	Crawl               string                   `json:"crawl"`
	Pages               int64                    `json:"pages"`
	PagesBefore         int64                    `json:"pages_before,omitempty"`  // part of Pages that earlier runs fetched
	Records             int64                    `json:"records"`                 // committed
	OutputUnread        bool                     `json:"output_unread,omitempty"` // listing failed, so Records may be too low
	BytesWire           int64                    `json:"bytes_wire"`
	BytesBody           int64                    `json:"bytes_body"`
	Seconds             float64                  `json:"seconds"`
	PagesPerSecond      float64                  `json:"pages_per_second"`
	URLs                URLCounts                `json:"urls"`
	frontierapi.Reasons                          // why URLs failed or were excluded, and why pages were left out
	RuleTroubles        []RuleTrouble            `json:"rule_troubles,omitempty"`
	EmptyShells         *PageSample              `json:"empty_shells,omitempty"` // pages of this run with scripts and hardly any text that were not rendered
	LoginForms          *PageSample              `json:"login_forms,omitempty"`  // pages of this run with a login form for which the spec has no login
	Warnings            int64                    `json:"warnings,omitempty"`     // incomplete pages: truncated rendered pages; sitemaps, feeds and files that were read in part
	FailedLogins        int64                    `json:"failed_logins,omitempty"`
	Requests            map[messages.Class]int64 `json:"requests"`
	DeadLetters         *DeadLetters             `json:"dead_letters,omitempty"`
	SlowestHosts        []frontierapi.HostStatus `json:"slowest_hosts"`
	Files               []output.File            `json:"files"`
	Rows                map[string]int64         `json:"rows,omitempty"`   // records in a database, by kind
	Tables              map[string]string        `json:"tables,omitempty"` // tables of these records, by kind
	Out                 string                   `json:"out"`              // with secrets redacted
	Archives            []Archive                `json:"archives,omitempty"`
	RequestLog          *RequestLog              `json:"request_log,omitempty"`
	CompleteSince       time.Time                `json:"complete_since,omitzero"`   // set if an earlier run completed the crawl and this run had nothing to do
	Paused              bool                     `json:"paused,omitempty"`          // the crawl is paused and sends no requests
	CancelledHosts      []string                 `json:"cancelled_hosts,omitempty"` // hosts with queued URLs; seine resume undoes the cancellation
	Data                string                   `json:"-"`                         // directory of the state, "" with an external NATS server
	DeletedAt           time.Time                `json:"deleted_at,omitzero"`       // when the crawl is deleted (crawlspec.Spec.Keep)
	Run                 *frontierapi.Run         `json:"run,omitempty"`             // the newest run, unless it is the first
	NewRun              bool                     `json:"-"`                         // the newest run began in this process
	Changes             string                   `json:"-"`                         // command that prints the changes of the newest run, "" if the output cannot be compared
	SeedsWait           bool                     `json:"-"`                         // the URLs of this command are queued, none was fetched
	SeedsFailed         bool                     `json:"-"`                         // all URLs of this command failed, and no page was fetched
	RecordsLate         int64                    `json:"-"`                         // records written now for pages of earlier runs, if this run requested none
}

// WroteNothing reports whether the crawl completed without a page and all its outputs are empty.
func (s *Summary) WroteNothing() bool {
	return s.Outcome == OutcomeComplete && s.Pages == 0 && s.Records == 0 && len(s.Files)+len(s.Rows)+len(s.Archives) == 0 && s.RequestLog == nil
}

// FetchedNothing reports whether no page was fetched: by the crawl, by a new run, or for the URLs
// of this command.
func (s *Summary) FetchedNothing() bool {
	return s.Pages == 0 || s.SeedsFailed || s.NewRun && s.Run.Failed > 0 && s.Run.Pages+s.Run.Same == 0
}

// Archive is the committed content of a crawl's archive.
type Archive struct {
	Pages   int64         `json:"pages"`
	Answers int64         `json:"answers"` // responses that are not pages: redirects, errors, robots.txt
	Bytes   int64         `json:"bytes"`   // without indexes
	Files   []output.File `json:"files"`   // with indexes
	Out     string        `json:"out"`
}

// RuleTrouble is a record rule that matched nothing in this run's pages, or whose fields were
// always empty.
type RuleTrouble struct {
	Rule    string   `json:"rule"` // as in "records[0]"
	Kind    string   `json:"kind"`
	Pages   int64    `json:"pages"` // pages that the rule applies to
	Records int64    `json:"records"`
	Empty   []string `json:"empty,omitempty"` // fields
	What    string   `json:"what"`
}

// ruleTroubles returns the rules of the spec that found nothing.
func (r report) ruleTroubles() (all []RuleTrouble) {
	yields, pages := r.parser.Yields(r.Crawl)
	for i := range yields {
		y := &yields[i]
		if what := y.Trouble(pages, r.pagesBefore() > 0); what != "" {
			all = append(all, RuleTrouble{y.Rule, y.Kind, y.Pages, y.Records, slices.Concat(y.Nothing, y.Unfit), what})
		}
	}
	return all
}

// PageSample is a number of pages with one example.
type PageSample struct {
	Pages   int64  `json:"pages"`
	Example string `json:"example"` // URL
}

// newPageSample returns nil if pages is 0.
func newPageSample(pages int64, example string) *PageSample {
	if pages == 0 {
		return nil
	}
	return &PageSample{pages, example}
}

// RequestLog is the committed log of a crawl's requests.
type RequestLog struct {
	Requests int64         `json:"requests"`
	Bytes    int64         `json:"bytes"`
	Files    []output.File `json:"files,omitempty"` // none for a database
	Out      string        `json:"out"`             // with secrets redacted
}

// URLCounts counts URLs by state.
type URLCounts struct {
	Known    int64            `json:"known"`
	Done     int64            `json:"done"`
	Failed   int64            `json:"failed"`
	Excluded map[string]int64 `json:"excluded"` // by reason
	Open     int64            `json:"open"`
}

// limits maps end reasons to the spec's limit keys.
var limits = map[frontierapi.EndReason]string{
	frontierapi.PagesLimit: "max_pages", frontierapi.BytesLimit: "max_bytes", frontierapi.TimeLimit: "max_duration",
}

func (r report) summarise(end frontierapi.EndReason, interrupted bool, slowest []frontierapi.HostStatus, err error) (*Summary, error) {
	n := r.last
	s := &Summary{
		Crawl: r.Crawl, NoPagesReason: r.noPagesReason, Pages: n.Pages, PagesBefore: r.pagesBefore(), BytesWire: n.BytesWire, BytesBody: n.BytesBody,
		Seconds: time.Since(r.began).Seconds(), Requests: n.Attempts, Warnings: n.Warnings, FailedLogins: n.FailedLogins, SlowestHosts: slowest, Out: writer.Redact(r.Writer.Out),
		DeletedAt: r.expiry,
		URLs:      URLCounts{Known: n.Known(), Done: n.Done, Failed: n.Failed, Excluded: n.Excluded, Open: n.Pending()},
		Reasons:   r.reasons, RuleTroubles: r.ruleTroubles(),
	}
	shells, logins := r.parser.Contentless(r.Crawl)
	s.EmptyShells, s.LoginForms = newPageSample(shells.Sample()), newPageSample(logins.Sample())
	if !r.NATS.Given() {
		s.Data = r.Data
	}
	s.Paused = r.state == crawlspec.Paused
	if n.Excluded[frontierapi.ReasonCancelled] > 0 {
		s.CancelledHosts = r.cancelled
	}
	if s.URLs.Excluded == nil {
		s.URLs.Excluded = make(map[string]int64) // {} in JSON instead of null
	}
	switch {
	case errors.Is(err, ErrDeleted):
		s.Outcome, s.Error = OutcomeDeleted, err.Error()
	case err != nil:
		s.Outcome, s.Error = OutcomeFailed, err.Error()
	case limits[end] != "":
		s.Outcome, s.Limit = OutcomeLimit, limits[end]
	case end == frontierapi.Complete && r.state == crawlspec.Cancelled:
		s.Outcome = OutcomeCancelled
	case end == frontierapi.Complete:
		s.Outcome = OutcomeComplete
		if r.resumed && n.Changed < r.began.UnixMilli() {
			s.CompleteSince = time.UnixMilli(n.Changed).UTC()
			if s.NoPagesReason != "" {
				s.NoPagesReason = "in an earlier run, " + s.NoPagesReason
			}
		}
	case interrupted:
		s.Outcome = OutcomeInterrupted
	default:
		s.Outcome, s.Error = OutcomeFailed, "a stage ended on its own"
	}
	s.Files, s.DeadLetters = outputs{r.crawl}.files(&r.Writer, messages.StreamRecords), r.deadLetters()
	s.OutputUnread = r.outputUnread
	for i := range r.More {
		if w := &r.More[i]; w.Name == RequestsName {
			s.RequestLog = outputs{r.crawl}.requestLog(w)
		} else {
			s.Archives = append(s.Archives, outputs{r.crawl}.archive(w))
		}
	}
	for _, f := range s.Files {
		s.Records += int64(f.Records)
	}
	if writer.IsDatabase(r.Writer.Out) {
		s.Rows, s.Files = rowsByKind(s.Files), nil
		delete(s.Rows, messages.KindVisit) // visits have no view
		s.Tables = make(map[string]string, len(s.Rows))
		for kind := range s.Rows {
			s.Tables[kind] = writer.TableOf(r.Writer.Out, kind)
		}
	}
	if r.resumed && n.Changed < r.began.UnixMilli() && len(r.writers) > 0 {
		s.RecordsLate = min(r.writers[0].Totals().Records, s.Records)
	}
	s.SeedsWait, s.SeedsFailed, s.Run = r.seedsWait, r.seedsFailed, r.newest
	if s.Run != nil {
		s.NewRun, s.Changes = !s.Run.Started.Before(r.began), r.changesCommand()
	}
	if s.Seconds > 0 {
		s.PagesPerSecond = float64(n.Pages-s.PagesBefore) / s.Seconds
	}
	return s, err
}

// archive returns the committed content of an archive.
func (o outputs) archive(w *writer.Config) Archive {
	a := Archive{Out: w.Out, Files: o.files(w, messages.StreamPages)}
	for _, f := range a.Files {
		answers := f.RecordsOf(messages.KindAnswer)
		a.Pages, a.Answers = a.Pages+int64(f.Records-answers), a.Answers+int64(answers)
		if f.IndexOf == "" {
			a.Bytes += f.Bytes
		}
	}
	return a
}

// requestLog returns the committed log of requests.
func (o outputs) requestLog(w *writer.Config) *RequestLog {
	l := &RequestLog{Out: writer.Redact(w.Out), Files: o.files(w, messages.StreamResults)}
	for _, f := range l.Files {
		l.Requests += int64(f.Records)
		l.Bytes += f.Bytes
	}
	if writer.IsDatabase(w.Out) {
		l.Files = nil
	}
	return l
}

// files lists the files that a writer has committed for this crawl. An output directory may also
// hold files of other crawls and of deleted streams.
func (o outputs) files(w *writer.Config, stream string) []output.File {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	read, err := o.bus.JS.Stream(ctx, stream)
	if err != nil {
		o.Log.Warn("cannot list the output", "crawl", o.Crawl, "error", err)
		return nil
	}
	commits, err := w.ReadCommits()
	o.outputUnread = o.outputUnread || err != nil
	if err != nil && !errors.Is(err, output.ErrAway) { // the writer reports ErrAway
		o.Log.Warn("cannot list the output", "crawl", o.Crawl, "error", err)
	}
	var files []output.File
	deletion := cmp.Or(o.specs.Deletion(o.Crawl), new(messages.Deletion))
	for _, commit := range commits {
		if !commit.Created.Equal(read.CachedInfo().Created) || !commit.Stored.After(deletion.Time) {
			continue
		}
		for _, f := range commit.Files {
			if f.Crawl == o.Crawl {
				files = append(files, f)
			}
		}
	}
	return files
}

// rowsByKind counts the records in a database, by kind.
func rowsByKind(files []output.File) map[string]int64 {
	byKind := make(map[string]int64)
	for _, f := range files {
		byKind[f.Kind] += int64(f.Records)
	}
	return byKind
}

// SlowMS is the least mean response time of a host, in milliseconds, that the summary lists.
const SlowMS = 20

// Write prints the summary in plain text.
func (s *Summary) Write(w io.Writer) {
	safeprint.Fprintf(w, "\n%s: %s\n\n", s.Crawl, s.headline())
	last := ""
	row := func(name, format string, a ...any) { // prints a repeated name once
		if name == last {
			name = ""
		} else if name != "" {
			last = name
		}
		safeprint.Fprintf(w, "  %-12s "+format+"\n", append([]any{name}, a...)...)
	}
	pages := humanize.Count(s.Pages)
	if s.PagesBefore > 0 && s.CompleteSince.IsZero() {
		since := "since it was resumed"
		if s.NewRun {
			since = "in this run"
		}
		pages += fmt.Sprintf(" (%s %s)", humanize.Count(s.Pages-s.PagesBefore), since)
	}
	row("pages", "%s, %s (%s on the wire)", pages, humanize.Size(s.BytesBody), humanize.Size(s.BytesWire))
	took := time.Duration(s.Seconds * float64(time.Second)).Round(10 * time.Millisecond).String()
	if s.Pages > s.PagesBefore {
		took += fmt.Sprintf(", %.0f pages/s", s.PagesPerSecond)
	}
	row("time", "%s", took)
	if s.Run != nil && s.CompleteSince.IsZero() {
		row("run", "%s", s.runFound())
	}
	if requests := humanize.ByCount(s.Requests); requests != "" {
		if s.PagesBefore > 0 {
			requests += ", in all runs"
		}
		row("requests", "%s", requests)
	}
	row("URLs", "%s known: %s done, %s failed, %s open", humanize.Count(s.URLs.Known), humanize.Count(s.URLs.Done), humanize.Count(s.URLs.Failed), humanize.Count(s.URLs.Open))
	writeReasons(row, "failed", s.Failures)
	if s.Outcome == OutcomeComplete && s.CompleteSince.IsZero() && slices.ContainsFunc(s.Failures, func(r frontierapi.Reason) bool {
		return r.Name == frontierapi.HostGivenUp || messages.Class(r.Name).Retryable()
	}) {
		row("", "%s", s.retry())
	}
	writeReasons(row, "excluded", s.Exclusions)
	writeReasons(row, "left out", s.LeftOut)
	for _, r := range s.RuleTroubles {
		row("rules", "%s (%s) %s", r.Rule, r.Kind, r.What)
	}
	if len(s.RuleTroubles) > 0 {
		row("", "(try the rules on a page with seine extract URL)")
	}
	s.writeWarnings(row)
	if d := s.DeadLetters; d != nil {
		row("dead letters", "%s; the last: %s", humanize.ByCount(d.ByStage), d.Last)
	}
	for _, h := range s.SlowestHosts {
		if h.MeanMS < SlowMS {
			continue
		}
		row("slowest", "%s: %d ms a request, %s", h.Host, h.MeanMS, humanize.Plural(h.Requests, "request"))
	}
	if len(s.CancelledHosts) > 0 {
		row("cancelled", "%s; seine resume --host NAME undoes that", strings.Join(s.CancelledHosts, ", "))
	}
	if s.NoPagesReason != "" {
		row("why", "%s", s.NoPagesReason)
	}
	if !s.DeletedAt.IsZero() {
		row("kept", "until %s; then a frontier that runs deletes it, but not its output", s.DeletedAt.Local().Format(time.DateTime))
	}
	for _, a := range s.Archives {
		row("archive", "%s and %s, %s in %s", humanize.Plural(a.Pages, "page"), humanize.Plural(a.Answers, "other response"), humanize.Size(a.Bytes), a.Out)
	}
	if l := s.RequestLog; l != nil {
		row("request log", "%s in %s", humanize.Plural(l.Requests, "request"), l.Out)
	}
	if s.RecordsLate > 0 {
		row("written", "%s of pages that earlier runs fetched", humanize.Plural(s.RecordsLate, "record"))
	}
	if s.Records == 0 {
		if s.OutputUnread {
			row("output", "cannot be read now: %s", s.Out)
			return
		}
		row("output", "nothing in %s", s.Out)
		return
	}
	if s.Rows != nil {
		row("output", "%s in %s", humanize.Plural(s.Records, "record"), s.Out)
		for _, kind := range slices.Sorted(maps.Keys(s.Rows)) {
			row("", "%s of kind %s; their latest versions: SELECT * FROM %s", humanize.Plural(s.Rows[kind], "record"), kind, s.Tables[kind])
		}
		return
	}
	row("output", "%s in %s of %s", humanize.Plural(s.Records, "record"), humanize.Plural(len(s.Files), "file"), s.Out)
	for i, f := range s.Files {
		if i == 10 {
			row("", "… and %d more", len(s.Files)-i)
			break
		}
		row("", "%s  %s, %s", f.Path, humanize.Plural(f.Records, "record"), humanize.Size(f.Bytes))
	}
}

// writeWarnings prints likely mistakes in the spec, one per line.
func (s *Summary) writeWarnings(row func(name, format string, a ...any)) {
	for _, r := range s.Exclusions {
		keys := traps.Reason(r.Name).Keys()
		if keys == "" || r.URLs <= s.Pages/trapShare {
			continue
		}
		row("warning", "%s excluded as %s%s: to fetch such pages, set %s to 0 in the spec", humanize.Plural(r.URLs, "URL"), r.Name, suchAs(r.Example), keys)
	}
	if e := s.EmptyShells; e != nil {
		row("warning", "%s with scripts and hardly any text, such as %s: try --render auto", humanize.Plural(e.Pages, "page"), e.Example)
	}
	if l := s.LoginForms; l != nil {
		row("warning", "%s with a login form, such as %s: set render.login in the spec, or auth under sources", humanize.Plural(l.Pages, "page"), l.Example)
	}
	if s.Warnings > 0 {
		row("warnings", "%s incomplete (rendered pages, sitemaps, feeds, PDF and office files): see the log, or seine explain URL", humanize.Plural(s.Warnings, "page"))
	}
	if s.FailedLogins > 0 {
		row("logins", "%s failed: check render.login of the spec and its secrets", humanize.Count(s.FailedLogins))
	}
}

// trapShare is an inverse share of the fetched pages. If a guard excluded more URLs than this
// share, the summary warns.
const trapShare = 10

func suchAs(e *frontierapi.Example) string {
	if e == nil {
		return ""
	}
	return ", such as " + e.URL
}

// runFound describes the results of the newest run and how to list them.
func (s *Summary) runFound() string {
	r := s.Run
	found := map[string]int64{"new": r.New, "changed": r.Changed, "same": r.Same, "gone": r.Gone, "failed": r.Failed - r.Gone}
	maps.DeleteFunc(found, func(_ string, n int64) bool { return n <= 0 })
	text := cmp.Or(humanize.ByCount(found), "no page visited")
	if s.Changes != "" && r.New+r.Changed > 0 {
		text += "; " + s.Changes + " lists new and changed records"
	}
	return text
}

// maxReasons is the number of reasons that are printed.
const maxReasons = 5

// writeReasons prints why URLs ended without a page, one line with an example each.
func writeReasons(row func(name, format string, a ...any), name string, all []frontierapi.Reason) {
	for i, r := range all {
		if i == maxReasons {
			row("", "… and for %s", humanize.Plural(len(all)-i, "other reason"))
			break
		}
		text := fmt.Sprintf("%s %s", humanize.Count(r.URLs), r.Name) + suchAs(r.Example)
		if e := r.Example; e != nil && e.Why != "" {
			text += " (" + strings.TrimPrefix(e.Why, r.Name+": ") + ")"
		}
		row(name, "%s", text)
	}
}

func (s *Summary) headline() string {
	switch s.Outcome {
	case OutcomeLimit:
		flag := strings.ReplaceAll(s.Limit, "_", "-")
		if s.PagesBefore > 0 && s.Pages == s.PagesBefore {
			if s.SeedsWait {
				return fmt.Sprintf("already at its limit %s, so the URLs of this command were added to the crawl and not fetched: raise --%s to fetch them, or give another --data and --out for a crawl of their own", s.Limit, flag)
			}
			return fmt.Sprintf("already at its limit %s, so no page was fetched; %s in the queue: raise --%s to continue", s.Limit, humanize.Plural(s.URLs.Open, "URL"), flag)
		}
		return fmt.Sprintf("stopped at its limit %s; raise --%s to continue", s.Limit, flag)
	case OutcomeInterrupted:
		if s.Paused {
			return "interrupted while paused; run seine resume" + s.ofData() + " and the same command to continue"
		}
		return "interrupted; run the same command again to resume"
	case OutcomeCancelled:
		return "cancelled; run seine resume" + s.ofData() + " and the same command to continue"
	case OutcomeDeleted:
		return "deleted while it ran; its output stays"
	case OutcomeFailed:
		return "failed: " + s.Error
	case OutcomeComplete:
		if !s.CompleteSince.IsZero() {
			return s.completeBefore()
		}
		if len(s.CancelledHosts) > 0 {
			return "complete, but for hosts that are cancelled"
		}
	}
	return "complete"
}

// ofData returns the flags that select this crawl in another command.
func (s *Summary) ofData() (flags string) {
	if s.Data != "" && filepath.Clean(s.Data) != filepath.Clean(connect.DefaultData) {
		flags = " --data " + s.Data
	}
	if s.Crawl != messages.DefaultCrawl {
		flags += " --crawl " + s.Crawl
	}
	return flags
}

// retry returns advice on fetching failed URLs again.
func (s *Summary) retry() string {
	return fmt.Sprintf("to retry failures, run seine seed --failures-of %s%s and the same command", s.Crawl, s.ofData())
}

// completeBefore is the headline for a crawl that an earlier run completed.
func (s *Summary) completeBefore() string {
	text := fmt.Sprintf("complete on %s, nothing was fetched", s.CompleteSince.Local().Format(time.DateTime))
	if len(s.CancelledHosts) > 0 {
		text += " (some hosts are cancelled)"
	}
	text += "; --again visits all pages again, seine replay parses the stored pages again"
	if s.URLs.Failed > 0 {
		text += "; " + s.retry()
	}
	return text
}

// keptUntil returns when an ended crawl will be deleted, the zero time for never.
func (r report) keptUntil(ctx context.Context, end frontierapi.EndReason) time.Time {
	spec, err := r.specs.Get(ctx, r.Crawl, 0)
	if err != nil {
		return time.Time{}
	}
	at, _ := r.client.Expiry(ctx, r.Crawl, spec, end, &r.last) // seine status reports errors
	return at
}
