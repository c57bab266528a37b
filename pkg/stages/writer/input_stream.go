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

// inputStream is a stream that can be written, and how its messages are interpreted.
type inputStream struct {
	stream  string
	subject string // second token of its subjects
	// ofPartition returns the filter for the messages of one partition.
	ofPartition func(p int) string
	// check returns an error if a message is not a valid record.
	check func(header nats.Header, payload []byte) error
	// kind returns the kind of the record in an unchecked message.
	kind func(m *stages.Message) string
	// isPages is set for PAGES.
	isPages bool
}

// pages is PAGES: pages, chained or not, and other responses.
var pages = inputStream{
	stream: messages.StreamPages, subject: messages.AnyKind, check: checkPage,
	kind: kindOfExchange, ofPartition: func(p int) string { return messages.SubjectAny("*", p) },
	isPages: true,
}

// id returns the identity of the record in a message.
func (in *inputStream) id(header nats.Header) string {
	if in.isPages {
		return messages.PageID(header)
	}
	return header.Get(nats.MsgIdHdr)
}

// checkInput returns an error if a message is not a valid record. If readers parse whole files, it
// also parses a record with HeaderRecord: an invalid one would spoil the others.
func (w *partitionWriter) checkInput(m *stages.Message) error {
	err := w.w.from.check(m.Header, m.Data)
	if err == nil && w.form.parsed && !w.w.from.isPages && !json.Valid(m.Data) {
		err = errNotJSON
	}
	return err
}

var errNotJSON = errors.New("record is not valid JSON")

// leavesOut reports whether the form of the output omits a message: only an archive has responses
// other than pages.
func (c *Config) leavesOut(m *stages.Message) bool {
	return c.From == format.FromPages && messages.IsAnswer(m.Subject) && !format.IsArchive(c.Format)
}

func kindOfExchange(m *stages.Message) string {
	if messages.IsAnswer(m.Subject) {
		return messages.KindAnswer
	}
	return messages.KindPage
}

// sources are the streams by their values in --from.
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

// pageOf returns the page in a checked message. Its body is read to the end even if ctx is done: a
// chunk with an incomplete page would be lost.
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

// noteExactness logs, once for each crawl without archived pages, that they could have been
// archived.
func (w *Writer) noteExactness(p *format.Page) {
	if p.Head != nil {
		return
	}
	if _, said := w.inexact.LoadOrStore(p.Crawl, true); !said {
		w.log.Warn("pages lack their original responses: set archive: true in the spec", "crawl", p.Crawl)
	}
}
