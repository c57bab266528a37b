package extract

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"seine/internal/page/document"
)

// jqProcess is a worker as its parent sees it. One goroutine uses it at a time.
type jqProcess struct {
	limits  jqLimits
	cmd     *exec.Cmd
	to      io.WriteCloser
	from    *bufio.Reader
	keep    func() bool // ends the watch over the context that get was given; false if the worker was killed
	timer   *time.Timer // ends it when it is idle
	request []byte      // a frame that next and others append to
	asked   int         // answers that it asks for
	program string      // the latest that it has
	value   uint64      // hash of the latest value that it has
	since   time.Time   // when it became idle
	ended   error       // why it has ended
}

// workerProgram is the program of this process, also if an upgrade has replaced its file.
var workerProgram = func() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	program, _ := os.Executable() // the error is that of starting it
	return program
}()

// startWorker starts a program as a worker. It ends when its input does, at the latest with this process.
func startWorker(program string, limits jqLimits) (*jqProcess, error) {
	cmd := exec.Command(program)
	cmd.Args[0] = "seine-jq"
	cmd.Env = []string{fmt.Sprintf("%s=%d %d", workerVariable, limits.memory, limits.cpu), "TZ=UTC", "GOMAXPROCS=2", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	to, err := cmd.StdinPipe()
	from, failed := cmd.StdoutPipe()
	if err = cmp.Or(err, failed); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the process that interprets it: %w", err)
	}
	w := &jqProcess{limits: limits, cmd: cmd, to: to, from: bufio.NewReaderSize(from, maxBatch)}
	w.reset()
	return w, nil
}

func (w *jqProcess) kill() { _ = w.cmd.Process.Kill() }

func (w *jqProcess) end() {
	w.kill()
	_ = w.cmd.Wait()
}

// fail notes why a worker has ended.
func (w *jqProcess) fail(cause error) {
	if !errors.Is(cause, io.EOF) && !errors.Is(cause, io.ErrUnexpectedEOF) {
		w.kill()
	}
	_ = w.cmd.Wait()
	switch state := w.cmd.ProcessState; {
	case state.ExitCode() == exitMemory || state.ExitCode() == exitRuntime:
		w.ended = fmt.Errorf("%w: the program uses more than %d MiB of memory", errBound, w.limits.memory>>20)
	case state.ExitCode() == exitCPU:
		w.ended = fmt.Errorf("%w: the program takes more than %s of processor time", errBound, w.limits.cpu)
	default:
		w.ended = fmt.Errorf("the process that interprets it ended: %s", state)
	}
}

var valueSeed = maphash.MakeSeed()

// give adds a value to the request, for the evaluations that begin from now on, and returns its size in bytes of JSON.
func (w *jqProcess) give(v any) (size int) {
	start := len(w.request)
	w.request = appendValue(appendFrame(w.request, frameValue), v)
	endFrame(w.request, start)
	text := w.request[start+frameHead:]
	if hash := maphash.Bytes(valueSeed, text); hash != w.value {
		w.value = hash
	} else {
		w.request = w.request[:start]
	}
	return len(text)
}

// begin adds an evaluation within so many others.
func (w *jqProcess) begin(program string, level int) {
	if program != w.program {
		w.request = appendFrame(w.request, frameProgram, []byte(program)...)
		w.program = program
	}
	w.request = appendFrame(w.request, frameBegin, byte(level))
}

// next adds that up to n results of an evaluation are wanted.
func (w *jqProcess) next(level, n int) {
	w.request = appendFrame(w.request, frameNext, byte(level), byte(n))
	w.asked++
}

// exchange sends the request, and returns what next asked for. If the worker has ended, the last one says why, and others are missing.
func (w *jqProcess) exchange() []*batch {
	answers := make([]*batch, 0, w.asked)
	if w.ended == nil {
		endFrame(w.request, 0)
		if _, err := w.to.Write(w.request); err != nil {
			w.fail(err)
		}
	}
	for len(answers) < w.asked && w.ended == nil {
		b := new(batch)
		answers = append(answers, b)
		if err := b.readAll(w.from); err != nil {
			w.fail(err)
		}
	}
	if w.ended != nil {
		if len(answers) == 0 {
			answers = append(answers, new(batch))
		}
		last := answers[len(answers)-1]
		last.more, last.err = false, w.ended
	}
	w.reset()
	return answers
}

func (w *jqProcess) reset() {
	if cap(w.request) > 16*maxBatch {
		w.request = nil
	}
	w.request, w.asked = appendFrame(w.request[:0], frameRequest), 0
}

// alive reports whether a worker that was idle is there.
func (w *jqProcess) alive() bool {
	w.begin("0", 0)
	w.next(0, 1)
	return w.exchange()[0].err == nil
}

// programError is an error of a jq program.
type programError string

func (e programError) Error() string { return string(e) }

// batch has results of an evaluation.
type batch struct {
	values []any
	size   int   // in bytes of JSON
	more   bool  // there may be more results
	err    error // that ended the evaluation, behind the values
}

// readAll reads the answer to a frameNext. The error is that of the pipe.
func (b *batch) readAll(from *bufio.Reader) error {
	for {
		kind, payload, err := readFrame(from, maxResult)
		if err != nil {
			return err
		}
		switch kind {
		case frameResult:
			b.add(payload)
			continue
		case frameMore:
			b.more = b.err == nil
		case frameFailed:
			b.err = programError(payload)
		case frameBound:
			b.err = fmt.Errorf("%w: %s", errBound, payload)
		}
		return nil
	}
}

func (b *batch) add(payload []byte) {
	v, _, err := document.Value(payload)
	switch {
	case b.err != nil:
	case err != nil:
		b.err = fmt.Errorf("%w: a result: %w", errBound, err)
	default:
		b.values = append(b.values, v)
		b.size += len(payload)
	}
}
