package jsclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
)

// Lookup identifies a message of a stream.
type Lookup struct {
	Seq  uint64 `json:"seq,omitempty"`          // the first message from here on,
	Next string `json:"next_by_subj,omitempty"` // with this subject,
	Last string `json:"last_by_subj,omitempty"` // or the last message with this subject
}

// StoredMessage is a message as stored by the stream's leader.
type StoredMessage struct {
	Subject string    `json:"subject"`
	Seq     uint64    `json:"seq"`
	Header  []byte    `json:"hdrs"`
	Data    []byte    `json:"data"`
	Time    time.Time `json:"time"`
}

// codeNoMessage is JetStream's error for a message that does not exist.
const codeNoMessage = 10037

// ReadFromLeader gets a message of a stream from its leader. The client's GetMsg may be answered by
// a replica that is behind, which is not good enough to decide that a message does not exist, or is
// the last. It returns jetstream.ErrMsgNotFound if there is no message.
func (c *Client) ReadFromLeader(ctx context.Context, stream string, want Lookup) (*StoredMessage, error) {
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message *StoredMessage      `json:"message"`
	}
	if err := c.APIRequest(ctx, "STREAM.MSG.GET."+stream, want, &answer); err != nil {
		return nil, fmt.Errorf("inspect stream %s: %w", stream, err)
	}
	switch {
	case answer.Error != nil && int(answer.Error.ErrorCode) == codeNoMessage:
		return nil, jetstream.ErrMsgNotFound
	case answer.Error != nil:
		return nil, fmt.Errorf("inspect stream %s: %w", stream, answer.Error)
	case answer.Message == nil:
		return nil, fmt.Errorf("inspect stream %s: %w", stream, jetstream.ErrInvalidJetStreamResponse)
	}
	return answer.Message, nil
}

// EachFromLeader yields the messages of a stream with a subject from its leader, from a sequence
// on, until there are no more or an error occurs.
func (c *Client) EachFromLeader(ctx context.Context, stream, subject string, from uint64) iter.Seq2[*StoredMessage, error] {
	return func(yield func(*StoredMessage, error) bool) {
		for {
			m, err := c.ReadFromLeader(ctx, stream, Lookup{Seq: from, Next: subject})
			if errors.Is(err, jetstream.ErrMsgNotFound) || !yield(m, err) || err != nil {
				return
			}
			from = m.Seq + 1
		}
	}
}

// APIRequest sends a request to the JetStream API and decodes the answer, which may itself contain
// an error.
func (c *Client) APIRequest(ctx context.Context, what string, request, answer any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	ctx, cancel := AnswerWithin(ctx)
	defer cancel()
	m, err := c.NC.RequestWithContext(ctx, c.Prefix+"."+what, text)
	if errors.Is(err, nats.ErrNoResponders) {
		err = jetstream.ErrJetStreamNotEnabled
	}
	if err != nil {
		return err
	}
	if err := jsontext.Unmarshal(m.Data, answer); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

// LastSequence returns the sequence of the last message stored for a subject, 0 if there is none.
func (c *Client) LastSequence(ctx context.Context, stream, subject string) (uint64, error) {
	m, err := c.ReadFromLeader(ctx, stream, Lookup{Last: subject})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return m.Seq, nil
}

// ID returns the message's Nats-Msg-Id, "" if it has none.
func (m *StoredMessage) ID() string {
	h, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil {
		return ""
	}
	return h.Get(nats.MsgIdHdr)
}
