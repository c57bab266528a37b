package extract

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/itchyny/gojq"

	"seine/internal/base/cputime"
	"seine/internal/page/document"
	"seine/pkg/messages"
)

// workerVariable makes a process of any program with this package a worker, which interprets jq for the process that has
// started it and does nothing else. It has the limits.
const workerVariable = "SEINE_JQ_WORKER"

// jqLimits are the limits of one evaluation.
type jqLimits struct {
	memory uint64 // bytes, beside the value that it is given
	cpu    time.Duration
}

// Exit codes of a worker in which an evaluation exceeds a limit. The Go runtime exits with exitRuntime when memory is out.
const (
	exitRuntime = 2 + iota
	exitMemory
	exitCPU
)

// init serves before any other part of the program runs.
func init() {
	var limits jqLimits
	if _, err := fmt.Sscan(os.Getenv(workerVariable), &limits.memory, &limits.cpu); err == nil {
		serveJQ(limits)
		os.Exit(0)
	}
}

// worker interprets jq.
type worker struct {
	limits jqLimits
	parent int
	in     *bufio.Reader
	mu     sync.Mutex // of out and busy
	out    *bufio.Writer
	busy   bool // a request is not answered yet

	programs map[string]*gojq.Code
	program  *gojq.Code
	value    any
	failed   error // the value cannot be read
	stack    []*evaluation
	text     []byte
	sent     int // bytes, since the request

	running atomic.Pointer[evaluation]
	timer   *time.Timer   // of look
	seen    *evaluation   // that ran at the last look
	then    time.Duration // CPU time of the process at the last look
}

// evaluation is a program that runs on a value.
type evaluation struct {
	failed  error // the value cannot be read
	results gojq.Iter
	heap    uint64        // of the process when it began, in bytes
	cpu     time.Duration // that it may still use
}

const (
	// watchEvery is how often a worker looks at the memory and time of an evaluation.
	watchEvery = 5 * time.Millisecond
	// maxPrograms is how many compiled programs a worker keeps, with the regular expressions that they have compiled.
	maxPrograms = 1000
	// maxBatch is how long requests and their answers become before there is another one.
	maxBatch = 64 << 10
)

// serveJQ serves until the parent closes the pipe or has ended.
func serveJQ(limits jqLimits) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the parent drains, and needs its worker
	limitWorker(limits)
	debug.SetGCPercent(400)
	w := &worker{
		limits: limits, parent: os.Getppid(), in: bufio.NewReaderSize(os.Stdin, maxBatch), out: bufio.NewWriterSize(os.Stdout, maxBatch),
		programs: make(map[string]*gojq.Code),
	}
	w.timer = time.AfterFunc(time.Hour, w.look)
	for {
		_, request, err := readFrame(w.in, maxRequest)
		if err != nil {
			return
		}
		w.watch(true)
		for len(request) > 0 {
			request = w.do(request)
		}
		w.watch(false)
	}
}

// watch begins to look at evaluations, or ends that and sends what is left to send.
func (w *worker) watch(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy = on; on {
		w.sent = 0
		w.timer.Reset(watchEvery)
		return
	}
	w.timer.Stop()
	_ = w.out.Flush() // the next read finds out whether there is a parent
}

// do does what the first frame of a request says, and returns the others.
func (w *worker) do(request []byte) (rest []byte) {
	kind, payload, rest := cutFrame(request)
	switch kind {
	case frameProgram:
		w.program = w.compiled(string(payload))
	case frameValue:
		w.value, _, w.failed = document.Value(payload)
	case frameBegin:
		w.begin(int(payload[0]))
	case frameNext:
		w.next(int(payload[0]), int(payload[1]))
	}
	return rest
}

// compiled returns a program, which the parent has compiled before.
func (w *worker) compiled(text string) *gojq.Code {
	if code := w.programs[text]; code != nil {
		return code
	}
	parsed, err := gojq.Parse(text)
	if err != nil {
		panic(err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		panic(err)
	}
	if len(w.programs) >= maxPrograms {
		clear(w.programs)
	}
	w.programs[text] = code
	return code
}

// begin begins an evaluation. Garbage of those before it does not count.
func (w *worker) begin(level int) {
	heap := memoryUsed()
	if heap > w.limits.memory/4 {
		clear(w.programs)
		runtime.GC()
		heap = memoryUsed()
	}
	debug.SetMemoryLimit(int64(heap + w.limits.memory))
	e := &evaluation{heap: heap, cpu: w.limits.cpu, failed: w.failed}
	if e.failed == nil {
		e.results = w.program.Run(w.value)
	}
	clear(w.stack[level:])
	w.stack = append(w.stack[:level], e)
}

// next sends results of an evaluation. Those within it have ended.
func (w *worker) next(level, n int) {
	clear(w.stack[level+1:])
	w.stack = w.stack[:level+1]
	e := w.stack[level]
	w.running.Store(e)
	kind, text := w.results(e, n)
	w.running.Store(nil)
	if cap(w.text) > 16*maxBatch {
		w.text = nil
	}
	w.send(appendFrame(w.text[:0], kind, []byte(messages.Clip(text))...))
}

// results sends up to n results, fewer where the answers to a request become long, and returns the frame behind them.
func (w *worker) results(e *evaluation, n int) (kind byte, text string) {
	defer func() {
		if p := recover(); p != nil {
			kind, text = frameBound, fmt.Sprint("panic: ", p)
		}
	}()
	if e.failed != nil {
		return frameBound, e.failed.Error()
	}
	for ; n > 0 && w.sent < maxBatch; n-- {
		v, ok := e.results.Next()
		if err, failed := v.(error); failed {
			return frameFailed, err.Error()
		}
		if !ok {
			return frameEnd, ""
		}
		if nothing(v) {
			n++
			continue
		}
		if tooLarge(v) {
			return frameBound, errLarge.Error()
		}
		w.text = appendValue(appendFrame(w.text[:0], frameResult), v)
		if len(w.text) > maxResult {
			return frameBound, errLarge.Error()
		}
		endFrame(w.text, 0)
		w.send(w.text)
	}
	return frameMore, ""
}

func (w *worker) send(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.out.Write(frame)
	w.sent += len(frame)
}

// memoryUsed is the size of the heap and of stacks.
func memoryUsed() uint64 {
	used := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(used)
	return used[0].Value.Uint64() + used[1].Value.Uint64()
}

// look ends the process if the evaluation that runs exceeds a limit. The parent gets the results before that.
func (w *worker) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.busy {
		return
	}
	now, code := cputime.Used(), 0
	e := w.running.Load()
	if e != nil && e == w.seen {
		e.cpu -= now - w.then
	}
	w.seen, w.then = e, now
	switch {
	case e != nil && e.cpu < 0:
		code = exitCPU
	case e != nil && memoryUsed() > e.heap+w.limits.memory*3/2: // the collector keeps it below the limit, if it can
		code = exitMemory
	case os.Getppid() == w.parent:
		w.timer.Reset(watchEvery)
		return
	}
	_ = w.out.Flush()
	os.Exit(code)
}
