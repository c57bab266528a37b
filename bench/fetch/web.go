package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// web is the process that stands for the web.
type web struct {
	*child
	target
}

// seen is what it answers to any line.
type seen struct {
	Port     string
	Requests int64
}

// startWeb starts a web of slow hosts, each of whose pages has so many bytes, or of the files of a folder.
func (b *bench) startWeb(ctx context.Context, size int, dir string) (*web, error) {
	w, t := new(web), target{hosts: b.Hosts}
	args := []string{commandServe, "-latency", b.Latency.String(), "-bytes", strconv.Itoa(size)}
	if dir != "" {
		var err error
		if t.paths, err = htmlFiles(dir); err != nil {
			return nil, err
		}
		t.hosts, args = 0, []string{commandServe, "-dir", dir}
	}
	c, err := startChild(ctx, args...)
	if err != nil {
		return nil, err
	}
	w.child = c
	s, err := w.seen()
	if err != nil {
		c.close()
		return nil, err
	}
	t.port = s.Port
	w.target = t
	return w, nil
}

func (w *web) seen() (s seen, err error) {
	err = w.ask(0, &s)
	return s, err
}

// serve is the process. There is no robots.txt, and nothing is compressed.
func serve(args []string) error {
	f := flag.NewFlagSet(commandServe, flag.ContinueOnError)
	latency := f.Duration("latency", 0, "`time` to wait before an answer")
	size := f.Int("bytes", 1000, "`size` of a page")
	dir := f.String("dir", "", "serve the files of this `folder`")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	debug.SetGCPercent(400) // it shares the cores with what is measured: spend memory rather than time
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	var requests atomic.Int64
	if *dir != "" {
		files := http.FileServerFS(os.DirFS(*dir))
		s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			files.ServeHTTP(w, r)
		})}
		go func() { _ = s.Serve(l) }()
	} else {
		s := &slowServer{latency: *latency, response: response(*size), requests: &requests}
		go s.serve(l)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	return answerLines(func(int) (any, error) { return seen{port, requests.Load()}, nil })
}

// slowServer gives the same answer to any GET. It is less work than net/http's, so that more of the machine is left for
// what is measured.
type slowServer struct {
	latency  time.Duration
	response []byte
	requests *atomic.Int64
}

// sendBuffer is what the kernel may hold of an answer on its way. Other machines hold theirs themselves: thousands of
// large ones in this machine's kernel at once would make it drop packets.
const sendBuffer = 64 << 10

func (s *slowServer) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if c, ok := c.(*net.TCPConn); ok {
			_ = c.SetWriteBuffer(sendBuffer)
		}
		go s.converse(c)
	}
}

func (s *slowServer) converse(c net.Conn) {
	defer func() { _ = c.Close() }()
	for in := bufio.NewReaderSize(c, 1024); ; {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		if len(line) > len("\r\n") {
			continue // a field of the header
		}
		s.requests.Add(1)
		time.Sleep(s.latency)
		if _, err := c.Write(s.response); err != nil {
			return
		}
	}
}

// response is an HTML page of so many bytes, in words that compress about as text does, and its header.
func response(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	words := make([]string, 5000)
	for i := range words {
		for range 2 + random.IntN(9) {
			words[i] += string(rune('a' + random.IntN(26)))
		}
	}
	var body strings.Builder
	body.WriteString("<!DOCTYPE html><title>A page</title><p>")
	for body.Len() < size {
		body.WriteString(words[int(float64(len(words))*random.Float64()*random.Float64())] + " ")
	}
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n", size)
	return []byte(head + body.String()[:size])
}
