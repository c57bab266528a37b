package devtools

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"

	"seine/internal/base/jsontext"
)

// Session is a target of the browser, such as a tab, that accepts commands. It is safe for
// concurrent use.
type Session struct {
	conn  *Conn
	id    target.SessionID
	heard func(event any)
}

// Execute runs a command of cdproto: Session is a cdp.Executor. Its error wraps a *cdproto.Error if
// the browser rejects the command.
func (s *Session) Execute(ctx context.Context, method string, params, res any) error {
	m := cdproto.Message{SessionID: s.id, Method: cdproto.MethodType(method)}
	if params != nil {
		text, err := json.Marshal(params)
		if err != nil {
			return fmt.Errorf("encode %s: %w", method, err)
		}
		m.Params = text
	}
	answer, forget, err := s.conn.call(m)
	if err != nil {
		return err
	}
	defer forget()
	select {
	case a := <-answer:
		return read(&a, method, res)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case <-s.conn.done:
		return fmt.Errorf("%s: %w", method, s.conn.err)
	}
}

// read decodes the response to a command.
func read(m *cdproto.Message, method string, res any) error {
	switch {
	case m.Error != nil:
		return fmt.Errorf("%s: %w", method, m.Error)
	case res == nil:
		return nil
	}
	if err := jsontext.Unmarshal(m.Result, res); err != nil {
		return fmt.Errorf("decode the response to %s: %w", method, err)
	}
	return nil
}

// Detach removes a session, whose events are then ignored.
func (s *Session) Detach() {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	delete(s.conn.sessions, s.id)
}

// hear passes on an event. It ignores unknown events.
func (s *Session) hear(m *cdproto.Message) {
	if s.heard == nil {
		return
	}
	event, err := cdproto.UnmarshalMessage(m)
	if err == nil {
		s.heard(event)
	}
}
