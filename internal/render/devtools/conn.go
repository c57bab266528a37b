package devtools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"

	basejson "seine/internal/base/jsontext"
)

// ErrClosed is the error of commands whose browser has ended.
var ErrClosed = errors.New("the browser has closed its connection")

// MaxMessage bounds one message of the browser, in bytes: the snapshot of a document of a million
// nodes takes less. A longer message closes the connection.
const MaxMessage = 512 << 20

// Conn is the connection to a browser. It runs the commands that are for the browser itself. It is
// safe for concurrent use.
type Conn struct {
	root  Session
	pipe  io.ReadWriteCloser
	done  chan struct{}
	write sync.Mutex

	mu       sync.Mutex
	last     int64
	calls    map[int64]chan<- cdproto.Message
	sessions map[target.SessionID]*Session
	err      error // once closed
}

// Open communicates over a pipe until the pipe ends, or until Close. heard, if not nil, receives
// the events without a session.
func Open(pipe io.ReadWriteCloser, heard func(event any)) *Conn {
	c := &Conn{pipe: pipe, done: make(chan struct{}), calls: make(map[int64]chan<- cdproto.Message), sessions: make(map[target.SessionID]*Session)}
	c.root = Session{conn: c, heard: heard}
	go c.read()
	return c
}

// Done is closed when the browser has closed the connection.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close closes the connection, which makes the browser end. It waits for the reader.
func (c *Conn) Close() {
	_ = c.pipe.Close()
	<-c.done
}

// Execute runs a command for the browser itself: Conn is a cdp.Executor.
func (c *Conn) Execute(ctx context.Context, method string, params, res any) error {
	return c.root.Execute(ctx, method, params, res)
}

// Attach opens a session with a target. heard receives its events, one after the other. It must not
// wait for a command, since that would never be answered.
func (c *Conn) Attach(ctx context.Context, id target.ID, heard func(event any)) (*Session, error) {
	session, err := target.AttachToTarget(id).WithFlatten(true).Do(cdp.WithExecutor(ctx, c))
	if err != nil {
		return nil, err
	}
	s := &Session{conn: c, id: session, heard: heard}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[session] = s
	return s, nil
}

// read reads messages of the browser until the pipe ends.
func (c *Conn) read() {
	in := bufio.NewReaderSize(c.pipe, 64<<10)
	for {
		text, err := readMessage(in)
		if err != nil {
			c.closed(err)
			return
		}
		c.take(text)
	}
}

// readMessage reads up to the next NUL byte.
func readMessage(in *bufio.Reader) (text []byte, err error) {
	for {
		part, err := in.ReadSlice(0)
		if len(text)+len(part) > MaxMessage {
			return nil, fmt.Errorf("a message from the browser is longer than %d bytes", MaxMessage)
		}
		text = append(text, part...)
		if err == nil {
			return text[:len(text)-1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// take passes a message to the command that waits for it.
func (c *Conn) take(text []byte) {
	var m cdproto.Message
	if basejson.Unmarshal(text, &m) != nil {
		return // of a newer protocol: a command without a known response ends with its context
	}
	c.mu.Lock()
	answer, s := c.calls[m.ID], c.sessions[m.SessionID]
	delete(c.calls, m.ID)
	c.mu.Unlock()
	switch {
	case m.ID != 0 && answer != nil:
		answer <- m
	case m.ID != 0:
	case m.SessionID == "":
		c.root.hear(&m)
	case s != nil:
		s.hear(&m)
	}
}

// closed ends all waiting commands.
func (c *Conn) closed(err error) {
	_ = c.pipe.Close()
	c.mu.Lock()
	c.err = fmt.Errorf("%w: %w", ErrClosed, err)
	c.mu.Unlock()
	close(c.done)
}

// call sends a command and returns the channel of its response.
func (c *Conn) call(m cdproto.Message) (answer <-chan cdproto.Message, forget func(), err error) {
	come := make(chan cdproto.Message, 1)
	c.mu.Lock()
	if err := c.err; err != nil {
		c.mu.Unlock()
		return nil, nil, err
	}
	c.last++
	m.ID = c.last
	c.calls[m.ID] = come
	c.mu.Unlock()
	forget = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, m.ID)
	}
	text, err := json.Marshal(m)
	if err == nil {
		c.write.Lock()
		_, err = c.pipe.Write(append(text, 0))
		c.write.Unlock()
	}
	if err != nil {
		forget()
		return nil, nil, fmt.Errorf("send %s to the browser: %w", m.Method, err)
	}
	return come, forget, nil
}
