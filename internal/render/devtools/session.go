package devtools

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"

	"seine/internal/base/jsontext"
)

// Session is a target of the browser, such as a tab, that takes commands. It is safe for concurrent use.
type Session struct {
	conn  *Conn
	id    target.SessionID
	heard func(event any)
}

// Execute runs a command of cdproto: Session is a cdp.Executor. It returns a *CommandError if the browser refuses.
func (s *Session) Execute(ctx context.Context, method string, params, res any) error {
	m := message{SessionID: s.id, Method: method}
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
		return a.read(method, res)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case <-s.conn.done:
		return fmt.Errorf("%s: %w", method, s.conn.err)
	}
}

// read reads the answer to a command.
func (m *message) read(method string, res any) error {
	switch {
	case m.Error != nil && m.Error.Data != "":
		return &CommandError{method, m.Error.Message + ": " + m.Error.Data}
	case m.Error != nil:
		return &CommandError{method, m.Error.Message}
	case res == nil:
		return nil
	}
	if err := jsontext.Unmarshal(m.Result, res); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	return nil
}

// Detach forgets a session, whose events are heard no more.
func (s *Session) Detach() {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	delete(s.conn.sessions, s.id)
}

// hear tells of an event. One that this build does not know is left out.
func (s *Session) hear(m message) {
	if s.heard == nil {
		return
	}
	event, err := cdproto.UnmarshalMessage(&cdproto.Message{Method: cdproto.MethodType(m.Method), Params: m.Params})
	if err == nil {
		s.heard(event)
	}
}
