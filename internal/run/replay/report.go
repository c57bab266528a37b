package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/ops/deadletters"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

// Outcome is how a run of a replay ended.
type Outcome string

// Outcomes of a run.
const (
	Complete    Outcome = "complete"
	Interrupted Outcome = "interrupted" // the same command continues it
	Failed      Outcome = "failed"
)

// Report is the result of a run. Counts cover all runs of the replay, except Seconds and PerSecond.
// They are exact once the replay is complete.
type Report struct {
	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error,omitempty"`
	// Again is set if an earlier run completed the replay.
	Again  bool   `json:"again,omitempty"`
	Stream string `json:"stream"`
	// Chosen is the number of pages or records replayed. Gone is the number of messages that
	// existed at the start of the replay and were purged before it read them.
	Chosen int64 `json:"chosen"`
	Gone   int64 `json:"gone,omitempty"`
	// Parsed and Unparsed are the numbers of parsed pages and of pages that became dead letters.
	Parsed   int64 `json:"parsed,omitempty"`
	Unparsed int64 `json:"unparsed,omitempty"`
	// Records is the number of records committed or sent back, Kinds their numbers by kind. Repeats
	// is the number of duplicates among stored records.
	Records int64            `json:"records"`
	Kinds   map[string]int64 `json:"kinds"`
	Repeats int64            `json:"repeats,omitempty"`
	// Dead lists the failures by reason, the most frequent first.
	Dead       []Reason  `json:"dead,omitempty"`
	Letters    string    `json:"letters,omitempty"` // file with all dead letters
	FirstSeq   uint64    `json:"first_seq"`         // first sequence of the stream when the replay began
	FirstTime  time.Time `json:"first_time,omitzero"`
	FromSeq    uint64    `json:"from_seq"`
	ToSeq      uint64    `json:"to_seq"`
	Generation string    `json:"generation,omitempty"`
	Out        string    `json:"out,omitempty"` // with secrets redacted
	Files      int       `json:"files,omitempty"`
	Bytes      int64     `json:"bytes,omitempty"` // of the files
	Seconds    float64   `json:"seconds"`
	PerSecond  float64   `json:"per_second"` // pages or records
}

// Reason counts messages that failed for one reason.
type Reason struct {
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
	URL    string `json:"url,omitempty"` // of the first message
}

// end makes the report of a run. The report of a complete replay is stored in the plan.
func (r *replay) end(over bool, err error) (*Report, error) {
	// An interrupted run is counted, too, so ctx of the run is not used.
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	w, at := &r.plan.seqRange, r.store.at()
	rep := &Report{
		Outcome: Interrupted, Stream: r.Stream, Chosen: at.Chosen, Generation: r.plan.Generation,
		FirstSeq: w.First, FirstTime: w.FirstTime, FromSeq: w.From, ToSeq: w.To, Seconds: time.Since(r.began).Seconds(),
	}
	cerr := r.count(ctx, rep)
	r.idle = cerr == nil && rep.Records == 0
	if err == nil {
		err = cerr
	}
	switch {
	case err != nil:
		rep.Outcome, rep.Error = Failed, err.Error()
		return rep, err
	case !over:
		return rep, nil
	}
	rep.Outcome, rep.Gone = Complete, max(0, w.Messages-at.Read)
	if r.Stream == messages.StreamRecords {
		rep.Repeats = rep.Chosen - rep.Records - rep.letters()
	}
	r.plan.Report = rep
	return rep, r.plan.write(r.State)
}

// letters returns the number of dead letters.
func (rep *Report) letters() (n int64) {
	for _, d := range rep.Dead {
		n += d.Count
	}
	return n
}

// count sets the counts of the report.
func (r *replay) count(ctx context.Context, rep *Report) error {
	rep.PerSecond = float64(rep.Chosen-r.before.Chosen) / rep.Seconds
	unparsed, err := r.countDead(ctx, rep)
	if err != nil {
		return err
	}
	if r.Stream == messages.StreamPages {
		rep.Parsed, rep.Unparsed = rep.Chosen-unparsed, unparsed
	}
	if r.writer == nil {
		sent := r.store.stored.Load()
		rep.Records, rep.Kinds = sent.Records, sent.Kinds
		return nil
	}
	return r.countCommits(rep)
}

func (r *replay) countCommits(rep *Report) error {
	all, err := r.commits()
	if err != nil {
		return err
	}
	rep.Out, rep.Kinds = writer.Redact(r.Writer.Out), make(map[string]int64)
	for i := range all {
		rep.Records += int64(all[i].Records() + all[i].Replaced)
		for _, f := range all[i].Files {
			rep.Files, rep.Bytes = rep.Files+1, rep.Bytes+f.Bytes
			if f.Kinds == nil {
				rep.Kinds[f.Kind] += int64(f.Records)
			}
			for kind, n := range f.Kinds {
				rep.Kinds[kind] += int64(n)
			}
		}
	}
	if writer.IsDatabase(r.Writer.Out) {
		rep.Files = 0
	}
	return nil
}

// maxReasons bounds the reasons in the report; the file has all dead letters.
const maxReasons = 20

// countDead counts the dead letters and writes them to a file. It returns the number of pages that
// could not be parsed.
func (r *replay) countDead(ctx context.Context, rep *Report) (pages int64, err error) {
	file, err := os.Create(lettersFile(r.State))
	if err != nil {
		return 0, fmt.Errorf("--state %s: %w", r.State, err)
	}
	defer file.Close()
	seen := make(map[string]bool)
	reasons := make(map[[2]string]*Reason)
	to := json.NewEncoder(file)
	err = deadletters.Each(ctx, r.scratch.feed, deadletters.Filter{}, func(l *deadletters.DeadLetter) error {
		id := l.Message.Header.Get(nats.MsgIdHdr)
		if seen[id] { // the same failure before a kill
			return nil
		}
		seen[id] = true
		if l.Stage == messages.StageParser && strings.HasSuffix(id, ".0") {
			pages++
		}
		key := [2]string{l.Stage, l.Reason}
		if reasons[key] == nil {
			reasons[key] = &Reason{Stage: l.Stage, Reason: l.Reason, URL: l.URL}
		}
		reasons[key].Count++
		l.Seq = 0                                                         // a sequence on the scratch server, of no use to the user
		_, _ = fmt.Sscan(l.Message.Header.Get(headerReplay), &l.Sequence) // of the original record; pages already have theirs
		return to.Encode(l)
	})
	if err != nil {
		return 0, err
	}
	if len(seen) == 0 {
		return 0, os.Remove(file.Name())
	}
	rep.Letters = file.Name()
	for _, reason := range reasons {
		rep.Dead = append(rep.Dead, *reason)
	}
	slices.SortFunc(rep.Dead, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Reason, b.Reason))
	})
	if len(rep.Dead) > maxReasons {
		others := Reason{Reason: "other reasons"}
		for _, reason := range rep.Dead[maxReasons:] {
			others.Count += reason.Count
		}
		rep.Dead = append(rep.Dead[:maxReasons], others)
	}
	return pages, file.Sync()
}

func lettersFile(state string) string { return filepath.Join(state, "dead.jsonl") }
