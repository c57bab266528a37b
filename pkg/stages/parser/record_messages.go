package parser

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"

	"seine/internal/base/truncate"
	"seine/internal/page/extract"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// output returns the messages of a page: its records, dead letters for failed records, and its
// links. The message that ends the visit is the last.
func (p *Parser) output(ctx context.Context, m *stages.Message, r *parsedPage) (stages.Output, error) {
	partition := messages.Partition(r.page.URL, p.bus.Layout.Partitions)
	out := p.links(r, partition)
	out.First = append(out.First, r.recordMessages(partition, int(p.cfg.MaxText))...)
	if len(r.problems) > 0 {
		if err := m.Locate(ctx); err != nil { // the letters contain the position of the page
			return stages.Output{}, err
		}
	}
	for i := range r.problems {
		out.First = append(out.First, r.deadLetter(m, i))
	}
	return out, nil
}

// recordMessages returns the record of the page, if it has one, and the further records.
func (r *parsedPage) recordMessages(partition, maxText int) []*nats.Msg {
	var all []*nats.Msg
	if r.hasPageRecord() {
		all = append(all, r.pageRecord(partition, maxText))
	}
	env := r.envelope()
	for i, rec := range r.records {
		id := messages.VisitID(r.page.Crawl, r.page.Visit) + "." + rec.kind + "." + strconv.Itoa(i)
		all = append(all, messages.RecordMsg(r.page.Crawl, partition, id, rec.append(nil, env)))
	}
	if len(all) == 0 && r.page.Recorded {
		all = append(all, r.visitRecord(partition))
	}
	for _, m := range all {
		messages.SetSpecRevision(m, r.rev)
	}
	return all
}

// visitRecord returns the record that stands for the records of earlier visits.
func (r *parsedPage) visitRecord(partition int) *nats.Msg {
	rec := &messages.VisitRecord{
		Kind: messages.KindVisit, URL: r.page.URL, FetchedAt: r.page.FetchedAt, Crawl: r.page.Crawl, Visit: r.page.Visit, Run: r.page.Run,
		Status: r.page.Status, Class: messages.OK, Same: r.unchanged, Metadata: r.metadata(),
	}
	return rec.Msg(partition)
}

// kinds counts the records by kind.
func (r *parsedPage) kinds() []messages.KindCount {
	n := make(map[string]int64)
	if r.hasPageRecord() {
		n[messages.KindPage] = 1
	}
	for i := range r.records {
		kind := messages.CountedKind(r.records[i].kind)
		if _, ok := n[kind]; !ok && len(n) >= messages.MaxKinds-1 {
			kind = messages.KindOther
		}
		n[kind]++
	}
	var all []messages.KindCount
	for _, kind := range slices.Sorted(maps.Keys(n)) {
		all = append(all, messages.KindCount{Kind: kind, N: n[kind]})
	}
	return all
}

// envelope returns the common fields of the further records.
func (r *parsedPage) envelope() extract.Envelope {
	return extract.Envelope{
		URL: r.page.URL, FetchedAt: r.page.FetchedAt, Crawl: r.page.Crawl, Visit: r.page.Visit.String(), Run: r.page.Run,
		DuplicateOf: pageEncoder{r}.duplicate(), Metadata: r.encodedMetadata(),
	}
}

// pageRecord returns the record of the page.
func (r *parsedPage) pageRecord(partition, maxText int) *nats.Msg {
	id := messages.VisitID(r.page.Crawl, r.page.Visit)
	if len(r.plan.fields) > 0 {
		return messages.RecordMsg(r.page.Crawl, partition, id, pageEncoder{r}.encodePage(maxText))
	}
	masked := r.plan.mask.Field
	rec := &messages.Record{
		URL: r.page.URL, Status: r.page.Status, ContentType: r.page.ContentType,
		Title: masked("title", r.scanned.Title), Description: masked("description", r.scanned.Description),
		Canonical: r.scanned.Canonical, Language: r.scanned.Language, Charset: r.scanned.Charset, NoIndex: r.scanned.NoIndex,
		Text: truncate.To(masked("text", r.scanned.Text), maxText), FetchedAt: r.page.FetchedAt, Depth: r.page.Depth,
		Referrer: r.page.Referrer, Crawl: r.page.Crawl, Visit: r.page.Visit, Run: r.page.Run, DuplicateOf: r.duplicateOf,
		Metadata: r.metadata(), Pages: pageEncoder{r}.converted().Pages, NoText: pageEncoder{r}.converted().NoText,
		Cut: r.page.Cut, RenderProblems: r.page.RenderProblems,
	}
	if isCut(r.scanned.Text, maxText) {
		rec.Truncated = []string{"text"}
	}
	line := rec.Encode()
	for len(line) > r.plan.maxRecord && rec.Text != "" { // the text has many characters that JSON must escape
		rec.Text, rec.Truncated = truncate.To(rec.Text, len(rec.Text)/2), []string{"text"}
		line = rec.Encode()
	}
	return messages.RecordMsg(r.page.Crawl, partition, id, line)
}

// isCut reports whether a text was cut at a limit. A limit of 0 asks for no text.
func isCut(text string, limit int) bool { return limit > 0 && len(text) > limit }

// maxRecord leaves space for headers in a message of 1 MiB, headerRoom in any message.
const (
	maxRecord  = 1000 << 10
	headerRoom = 1<<20 - maxRecord
)

// maxLetter bounds the part of a record in a dead letter, so that it fits a message together with
// the headers of the page.
const maxLetter = 900 << 10

// deadLetter returns the dead letter of a record that could not be made. Its payload is the record,
// as far as it exists.
func (r *parsedPage) deadLetter(m *stages.Message, i int) *nats.Msg {
	problem := &r.problems[i]
	record := problem.Record[:min(len(problem.Record), maxLetter)]
	d := stages.DeadOf(messages.StageParser, m, r.plan.mask.Letter(describe(problem)))
	d.Payload, d.Part = []byte(r.plan.mask.Letter(string(record))), 1+i
	return d.Msg()
}

func describe(p *extract.Problem) string {
	where := p.Rule
	if p.Kind != "" {
		where += " (" + p.Kind + ")"
	}
	if p.Index > 0 {
		where += fmt.Sprintf(", item %d", p.Index+1)
	}
	if p.Field != "" {
		where += ", field " + p.Field
	}
	return where + ": " + p.Reason
}
