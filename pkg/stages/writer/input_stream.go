package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go"

	"seine/internal/output/format"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// inputStream is a stream that can be written, and what its messages are.
type inputStream struct {
	stream  string
	subject string // second token of its subjects
	// ofPartition returns the filter for the messages of one partition.
	ofPartition func(p int) string
	// check says why a message is no record.
	check func(header nats.Header, payload []byte) error
	// kind returns the kind of the record in a message that was not checked.
	kind func(m *stages.Message) string
	// isPages is whether the messages are those of PAGES.
	isPages bool
}

// pages is PAGES: pages, chained or not, and what else was answered.
var pages = inputStream{
	stream: messages.StreamPages, subject: messages.AnyKind, check: checkPage,
	kind: kindOfExchange, ofPartition: func(p int) string { return messages.SubjectAny("*", p) },
	isPages: true,
}

// id returns what tells the record in a message from others.
func (in *inputStream) id(header nats.Header) string {
	if in.isPages {
		return messages.PageID(header)
	}
	return header.Get(nats.MsgIdHdr)
}

// checkInput says why a message is no record. Of what readers parse as a whole, a record with HeaderRecord is parsed
// here as well: it would spoil the others.
func (w *partitionWriter) checkInput(m *stages.Message) error {
	err := w.w.from.check(m.Header, m.Data)
	if err == nil && w.form.parsed && !w.w.from.isPages && !json.Valid(m.Data) {
		err = errNotJSON
	}
	return err
}

var errNotJSON = errors.New("record is not valid JSON")

// leavesOut reports whether a message is one that the form of the output has no place for: only an
// archive has the answers beside the pages too.
func (c *Config) leavesOut(m *stages.Message) bool {
	return c.From == format.FromPages && messages.IsAnswer(m.Subject) && !format.IsArchive(c.Format)
}

func kindOfExchange(m *stages.Message) string {
	if messages.IsAnswer(m.Subject) {
		return messages.KindAnswer
	}
	return messages.KindPage
}

// sources are the streams by what they are called in --from.
var sources = map[string]inputStream{
	"records": {
		stream: messages.StreamRecords, subject: "records", check: messages.CheckRecord, kind: func(m *stages.Message) string { return messages.RecordKind(m.Header, m.Data) },
		ofPartition: func(p int) string { return messages.SubjectRecords("*", p) },
	},
	"results": {
		stream: messages.StreamResults, subject: "results", check: messages.CheckRecord,
		kind:        func(*stages.Message) string { return format.KindResult },
		ofPartition: func(p int) string { return messages.SubjectResults("*", p) },
	},
	"pages": pages,
}

func checkPage(header nats.Header, payload []byte) error {
	if header.Get(nats.MsgIdHdr) == "" {
		return fmt.Errorf("page has no %s header, which identifies duplicates", nats.MsgIdHdr)
	}
	page, err := messages.DecodePage(header)
	if err == nil {
		_, _, _, err = page.Split(payload)
	}
	return err
}

// pageOf takes apart a message that was checked. What is opened of it is read to
// its end whatever becomes of ctx: a chunk in which a page ends in the middle
// would be lost.
func pageOf(ctx context.Context, b *stages.Bus, header nats.Header, payload []byte) (*format.Page, error) {
	page, err := messages.DecodePage(header)
	if err != nil {
		return nil, err
	}
	request, head, inline, err := page.Split(payload)
	if err != nil {
		return nil, err
	}
	body, ctx := stages.NewPageBody(b, page, inline), context.WithoutCancel(ctx)
	p := &format.Page{Page: page, Body: func() (io.ReadCloser, error) { return body.Decoded(ctx) }}
	if len(head) > 0 {
		p.Request, p.Head = request, head
		p.Wire = func() (io.ReadCloser, error) { return body.Stored(ctx) }
	}
	return p, nil
}

// noteExactness says once of each crawl whose pages were not archived that they
// could have been.
func (w *Writer) noteExactness(p *format.Page) {
	if p.Head != nil {
		return
	}
	if _, said := w.inexact.LoadOrStore(p.Crawl, true); !said {
		w.log.Warn("pages are not known as they were sent: with archive: true in the spec they would be", "crawl", p.Crawl)
	}
}
