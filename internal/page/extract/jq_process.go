package extract

import (
	"bufio"
	"cmp"
	"encoding/gob"
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

// jqProcess is the parent's handle of a worker. It is not safe for concurrent use.
type jqProcess struct {
	limits jqLimits
	cmd    *exec.Cmd
	input  io.Closer
	to     *gob.Encoder
	from   *gob.Decoder
	keep   func() bool // stops watching the context that get was given; false if the worker was killed
	timer  *time.Timer // ends an idle worker
	value  uint64      // hash of the last value sent
	since  time.Time   // when it became idle
	ended  error       // why the worker ended
}

// workerProgram is the running program, even if an upgrade has replaced its file.
var workerProgram = func() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	program, _ := os.Executable() // starting it returns the error
	return program
}()

// startWorker starts a program as a worker. It ends when its input ends, at the latest with this
// process.
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
		return nil, fmt.Errorf("start its interpreter: %w", err)
	}
	return &jqProcess{limits: limits, cmd: cmd, input: to, to: gob.NewEncoder(to), from: gob.NewDecoder(bufio.NewReaderSize(from, maxBatch))}, nil
}

func (w *jqProcess) kill() { _ = w.cmd.Process.Kill() }

func (w *jqProcess) end() {
	w.kill()
	_ = w.cmd.Wait()
}

// fail records why a worker has ended.
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
		w.ended = fmt.Errorf("its interpreter ended: %s", state)
	}
}

var valueSeed = maphash.MakeSeed()

// exchange sends a request, and returns a batch for each program of each task. If the worker has
// ended, the last batch has the error, and later ones are missing.
func (w *jqProcess) exchange(r *jqRequest) (answers []*batch) {
	last := maphash.Bytes(valueSeed, r.Tasks[len(r.Tasks)-1].Value)
	if maphash.Bytes(valueSeed, r.Tasks[0].Value) == w.value {
		r.Tasks[0].Value = nil
	}
	w.value = last
	if w.ended == nil {
		if err := w.to.Encode(r); err != nil {
			w.fail(err)
		}
	}
	for i := range r.Tasks {
		for range r.Tasks[i].Programs {
			b := new(batch)
			answers = append(answers, b)
			if w.ended == nil {
				if err := b.readAll(w.from); err != nil {
					w.fail(err)
				}
			}
			if w.ended != nil {
				b.more, b.err = false, w.ended
				return answers
			}
		}
	}
	return answers
}

// alive reports whether an idle worker still runs.
func (w *jqProcess) alive() bool {
	return w.exchange(&jqRequest{Tasks: []jqTask{{Value: []byte("0"), Programs: []jqProgram{{Text: "."}}}}})[0].err == nil
}

// programError is an error of a jq program.
type programError string

func (e programError) Error() string { return string(e) }

// batch has results of an evaluation.
type batch struct {
	values []any
	size   int   // in bytes of JSON
	more   bool  // there may be more results
	err    error // that ended the evaluation, after the values
}

// readAll reads the results of a program. The error is the pipe's.
func (b *batch) readAll(from *gob.Decoder) error {
	for {
		var a jqAnswer
		if err := from.Decode(&a); err != nil {
			return err
		}
		for _, text := range a.Values {
			b.add(text)
		}
		switch a.End {
		case endNone:
			continue
		case endMore:
			b.more = b.err == nil
		case endFailed:
			b.err = programError(a.Error)
		case endBound:
			b.err = fmt.Errorf("%w: %s", errBound, a.Error)
		case endAll:
		}
		return nil
	}
}

func (b *batch) add(text []byte) {
	v, _, err := document.Value(text)
	switch {
	case b.err != nil:
	case err != nil:
		b.err = fmt.Errorf("%w: a result: %w", errBound, err)
	default:
		b.values = append(b.values, v)
		b.size += len(text)
	}
}
