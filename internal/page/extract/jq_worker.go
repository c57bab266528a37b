package extract

import (
	"bufio"
	"encoding/gob"
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

// jqRequest asks a worker to evaluate programs.
type jqRequest struct {
	Most  int // bytes of results, together
	Tasks []jqTask
}

// jqTask has the programs for a value. Without a value, it is for that of the previous task.
type jqTask struct {
	Value    []byte // JSON
	Programs []jqProgram
}

// jqProgram is a program. Of its results, the first Skip are left out and up to Most are sent. Null does not count.
type jqProgram struct {
	Text       string
	Skip, Most int
}

// jqAnswer is results of a program, and what is behind them. It may come in several parts.
type jqAnswer struct {
	Values [][]byte // JSON
	End    jqEnd
	Error  string
}

type jqEnd int

const (
	endNone   jqEnd = iota // another part
	endMore                // there may be more
	endAll                 // there are no more
	endFailed              // the program failed: its error
	endBound               // a result exceeds a bound: which
)

const (
	// maxAsked is how many results are asked for at once: one more than a rule may have records or values.
	maxAsked = MaxValues + 1
	// maxResult is the longest result.
	maxResult = document.MaxData
	// watchEvery is how often a worker looks at the memory and time of an evaluation.
	watchEvery = 5 * time.Millisecond
	// maxPrograms is how many compiled programs a worker keeps, with the regular expressions that they have compiled.
	maxPrograms = 1000
)

// worker interprets jq.
type worker struct {
	limits jqLimits
	parent int
	mu     sync.Mutex // of out, part and busy
	out    *bufio.Writer
	to     *gob.Encoder // to out
	part   jqAnswer     // that is not sent yet
	size   int          // of its values, in bytes
	busy   bool         // a request is not answered yet

	programs map[string]*gojq.Code
	value    any
	failed   error // the value cannot be read
	left     int   // bytes that the results of the request may still have

	running atomic.Pointer[evaluation]
	timer   *time.Timer   // of look
	seen    *evaluation   // that ran at the last look
	then    time.Duration // CPU time of the process at the last look
}

// evaluation is a program that runs on a value.
type evaluation struct {
	heap uint64        // of the process when it began, in bytes
	cpu  time.Duration // that it may still use
}

// serveJQ serves until the parent closes the pipe or has ended.
func serveJQ(limits jqLimits) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the parent drains, and needs its worker
	limitWorker(limits)
	debug.SetGCPercent(400)
	w := &worker{limits: limits, parent: os.Getppid(), out: bufio.NewWriterSize(os.Stdout, maxBatch), programs: make(map[string]*gojq.Code)}
	w.to = gob.NewEncoder(w.out)
	w.timer = time.AfterFunc(time.Hour, w.look)
	in := gob.NewDecoder(bufio.NewReaderSize(os.Stdin, maxBatch))
	for {
		var r jqRequest
		if err := in.Decode(&r); err != nil {
			return
		}
		w.watch(true)
		w.left = r.Most
		for _, task := range r.Tasks {
			w.do(&task)
		}
		w.watch(false)
	}
}

// watch begins to look at evaluations, or ends that and sends what is left to send.
func (w *worker) watch(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy = on; on {
		w.timer.Reset(watchEvery)
		return
	}
	w.timer.Stop()
	_ = w.out.Flush() // the next read finds out whether there is a parent
}

// do sends the results of the programs of a task.
func (w *worker) do(task *jqTask) {
	if task.Value != nil {
		w.value, _, w.failed = document.Value(task.Value)
	}
	for _, p := range task.Programs {
		w.begin()
		end, reason := w.results(&p)
		w.running.Store(nil)
		w.send(end, reason)
	}
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
func (w *worker) begin() {
	heap := memoryUsed()
	if heap > w.limits.memory/4 {
		clear(w.programs)
		runtime.GC()
		heap = memoryUsed()
	}
	debug.SetMemoryLimit(int64(heap + w.limits.memory))
	w.running.Store(&evaluation{heap: heap, cpu: w.limits.cpu})
}

// results adds results of a program, fewer where the answers to a request become long, and returns what is behind them.
func (w *worker) results(p *jqProgram) (end jqEnd, reason string) {
	defer func() {
		if v := recover(); v != nil {
			end, reason = endBound, fmt.Sprint("panic: ", v)
		}
	}()
	if w.failed != nil {
		return endBound, w.failed.Error()
	}
	results := w.compiled(p.Text).Run(w.value)
	for n := 0; n < p.Skip+p.Most && w.left > 0; {
		v, ok := results.Next()
		if err, failed := v.(error); failed {
			return endFailed, err.Error()
		}
		if !ok {
			return endAll, ""
		}
		if nothing(v) {
			continue
		}
		if n++; n <= p.Skip {
			continue
		}
		if tooLarge(v) || !w.add(appendValue(nil, v)) {
			return endBound, errLarge.Error()
		}
	}
	return endMore, ""
}

// add adds a result to the answer, unless it is too large.
func (w *worker) add(text []byte) bool {
	if len(text) > maxResult {
		return false
	}
	w.left -= len(text)
	w.mu.Lock()
	w.part.Values = append(w.part.Values, text)
	w.size += len(text)
	w.mu.Unlock()
	if w.size > maxBatch {
		w.send(endNone, "")
	}
	return true
}

// send sends what there is of an answer.
func (w *worker) send(end jqEnd, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.part.End, w.part.Error = end, messages.Clip(reason)
	_ = w.to.Encode(&w.part)
	w.part, w.size = jqAnswer{}, 0
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
	_ = w.to.Encode(&w.part) // an answer without an end
	_ = w.out.Flush()
	os.Exit(code)
}
