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

// workerVariable makes a process of any program with this package a worker, which interprets jq for
// its parent and does nothing else. Its value has the limits.
const workerVariable = "SEINE_JQ_WORKER"

// jqLimits are the limits of one evaluation.
type jqLimits struct {
	memory uint64 // bytes, besides the input value
	cpu    time.Duration
}

// Exit codes of a worker whose evaluation exceeds a limit. The Go runtime exits with exitRuntime
// when it is out of memory.
const (
	exitRuntime = 2 + iota
	exitMemory
	exitCPU
)

// init serves requests before any other part of the program runs.
func init() {
	var limits jqLimits
	if _, err := fmt.Sscan(os.Getenv(workerVariable), &limits.memory, &limits.cpu); err == nil {
		serveJQ(limits)
		os.Exit(0)
	}
}

// jqRequest asks a worker to evaluate programs.
type jqRequest struct {
	Most  int // bytes of all results
	Tasks []jqTask
}

// jqTask has the programs for a value. A nil Value stands for the previous task's.
type jqTask struct {
	Value    []byte // JSON
	Programs []jqProgram
}

// jqProgram is a program. The first Skip results are dropped, and up to Most of the following are
// sent. Nulls do not count.
type jqProgram struct {
	Text       string
	Skip, Most int
}

// jqAnswer has results of a program, and how they end. An answer may have several parts.
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
	endFailed              // the program failed with Error
	endBound               // a result exceeds a limit, described in Error
)

const (
	// maxAsked is the number of results requested at once: one more than the limits of records and
	// values of a rule.
	maxAsked = MaxValues + 1
	// maxResult is the size of the longest result.
	maxResult = document.MaxData
	// watchEvery is the interval at which a worker checks the memory and time of an evaluation.
	watchEvery = 5 * time.Millisecond
	// maxPrograms is the number of compiled programs that a worker keeps, with the regular
	// expressions that they have compiled.
	maxPrograms = 1000
)

// worker interprets jq.
type worker struct {
	limits jqLimits
	parent int
	mu     sync.Mutex // of out, part and busy
	out    *bufio.Writer
	to     *gob.Encoder // to out
	part   jqAnswer     // not sent yet
	size   int          // of its values, in bytes
	busy   bool         // a request is in progress

	programs map[string]*gojq.Code
	value    any
	failed   error // error of decoding the value
	left     int   // bytes that the results of the request may still take

	running atomic.Pointer[evaluation]
	timer   *time.Timer   // for look
	seen    *evaluation   // evaluation at the last check
	then    time.Duration // CPU time of the process at the last check
}

// evaluation is a running evaluation of a program.
type evaluation struct {
	heap uint64        // of the process at the start, in bytes
	cpu  time.Duration // that it may still use
}

// serveJQ serves requests until the parent closes the pipe or ends.
func serveJQ(limits jqLimits) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the parent drains first, and needs its worker
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

// watch starts checking evaluations, or stops it and flushes the output.
func (w *worker) watch(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy = on; on {
		w.timer.Reset(watchEvery)
		return
	}
	w.timer.Stop()
	_ = w.out.Flush() // the next read detects whether the parent has gone
}

// do evaluates the programs of a task and sends the results.
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

// compiled returns a compiled program. The parent has compiled it before, so it is valid.
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

// begin begins an evaluation. Garbage of earlier ones does not count.
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

// results adds the results of a program, or fewer if the answers to a request become long. It
// returns how the results end.
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

// add adds a result to the answer. It returns false if the result is too large.
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

// send sends the current part of an answer.
func (w *worker) send(end jqEnd, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.part.End, w.part.Error = end, messages.Clip(reason)
	_ = w.to.Encode(&w.part)
	w.part, w.size = jqAnswer{}, 0
}

// memoryUsed returns the size of the heap and the stacks.
func memoryUsed() uint64 {
	used := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(used)
	return used[0].Value.Uint64() + used[1].Value.Uint64()
}

// look exits the process if the running evaluation exceeds a limit. The parent still gets earlier
// results.
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
	case e != nil && memoryUsed() > e.heap+w.limits.memory*3/2: // the garbage collector keeps it below the limit if it can
		code = exitMemory
	case os.Getppid() == w.parent:
		w.timer.Reset(watchEvery)
		return
	}
	_ = w.to.Encode(&w.part) // an answer without an end
	_ = w.out.Flush()
	os.Exit(code)
}
