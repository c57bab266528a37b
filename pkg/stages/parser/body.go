package parser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/coding"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// body returns the decoded body of a page, from the message or from the object
// store.
func (p *Parser) body(ctx context.Context, page *messages.Page, payload []byte) ([]byte, error) {
	_, _, payload, err := page.Split(payload)
	if err != nil {
		return nil, stages.PoisonError(err)
	}
	if page.BodyObject != "" {
		store, err := p.bus.JS.ObjectStore(ctx, messages.BucketBodies)
		if err != nil {
			return nil, fmt.Errorf("open object store %s: %w", messages.BucketBodies, err)
		}
		payload, err = store.GetBytes(ctx, page.BodyObject)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil, stages.PoisonError(fmt.Errorf("body %s is no longer in the object store", page.BodyObject))
		}
		if err != nil {
			return nil, fmt.Errorf("read body %s: %w", page.BodyObject, err)
		}
	}
	body, err := p.decoded(page, payload)
	if err != nil {
		return nil, stages.PoisonError(fmt.Errorf("decompress body: %w", err))
	}
	return body, nil
}

// decoded undoes the encoding of a body. The fetcher has seen that it can be.
func (p *Parser) decoded(page *messages.Page, payload []byte) ([]byte, error) {
	room := make([]byte, 0, min(page.BodySize, 64<<20))
	switch page.BodyEncoding {
	case "":
		return payload, nil
	case messages.BodyZstd:
		return p.unzip.DecodeAll(payload, room)
	}
	names, err := coding.Parse([]string{page.BodyEncoding})
	if err != nil {
		return nil, err
	}
	z := coding.NewReader(bytes.NewReader(payload), names, 0)
	defer func() { _ = z.Close() }()
	body := bytes.NewBuffer(room)
	_, err = io.Copy(body, io.LimitReader(z, page.BodySize))
	return body.Bytes(), err
}

// bodyRead lets the janitor delete the body. If that fails, the body stays
// longer than it must.
func (p *Parser) bodyRead(ctx context.Context, page *messages.Page) {
	if err := stages.BodyRead(ctx, p.bus, page.BodyObject); err != nil {
		p.bus.Log.Warn("large body stays", "error", err)
	}
}
