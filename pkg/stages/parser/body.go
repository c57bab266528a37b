package parser

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// maxDecoded bounds the decoded size of a body stored by a program other than Seine's fetcher,
// which enforces the spec's limit.
const maxDecoded = 2 << 30

// body returns the decoded body of a page, from the message or from the object store. It copies a
// body passed by a chain if rules or extractors use it: an abandoned rule may still read it after
// the page is handled.
func (p *Parser) body(ctx context.Context, page *messages.Page, m *stages.Message, plan *parsePlan) ([]byte, error) {
	if m.Body != nil && (len(p.extractors) > 0 || plan.rules.Matches(page.URL)) {
		return bytes.Clone(m.Body), nil
	} else if m.Body != nil {
		return m.Body, nil
	}
	_, _, payload, err := page.Split(m.Data)
	if err != nil {
		return nil, stages.PoisonError(err)
	}
	if page.BodyObject == "" && page.BodyEncoding == "" {
		return payload, nil
	}
	room := make([]byte, 0, min(page.BodySize, 64<<20)+bytes.MinRead)    // so that it need not grow at the end
	if page.BodyObject == "" && page.BodyEncoding == messages.BodyZstd { // the most common encoding, and faster this way
		body, err := p.unzip.DecodeAll(payload, room)
		if err != nil {
			return nil, stages.PoisonError(fmt.Errorf("decompress body: %w", err))
		}
		return body, nil
	}
	in, err := stages.NewPageBody(p.bus, page, payload).Decoded(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	body := bytes.NewBuffer(room)
	if _, err := body.ReadFrom(io.LimitReader(in, maxDecoded)); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}
