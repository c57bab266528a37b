package extract

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// jqPool has the workers of a process. They share its processors.
type jqPool struct {
	program string // that workers run
	limits  jqLimits
	used    chan struct{} // has an element for each worker in use
	mu      sync.Mutex
	idle    []*jqProcess
}

const (
	// idleTime is how long an idle worker is kept.
	idleTime = 10 * time.Second
	// staleTime is the idle time after which a worker is first checked for life: the system may
	// have killed it when memory was short.
	staleTime = time.Second
)

// interpreters are the workers of this process.
var interpreters = newPool(jqLimits{memory: maxMemoryJQ, cpu: maxTimeJQ})

func newPool(limits jqLimits) *jqPool {
	return &jqPool{program: workerProgram, limits: limits, used: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// get returns a worker, which is killed when the context is done.
func (p *jqPool) get(ctx context.Context) (*jqProcess, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.used <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w := p.takeIdle()
	for w != nil && time.Since(w.since) > staleTime && !w.alive() {
		w = p.takeIdle()
	}
	if w == nil {
		var err error
		if w, err = startWorker(p.program, p.limits); err != nil {
			<-p.used
			return nil, err
		}
	}
	w.keep = context.AfterFunc(ctx, w.kill)
	return w, nil
}

func (p *jqPool) takeIdle() *jqProcess {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	w.timer.Stop()
	return w
}

// put returns a worker to the pool.
func (p *jqPool) put(w *jqProcess) {
	defer func() { <-p.used }()
	if !w.keep() || w.ended != nil {
		w.end()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w.since = time.Now()
	p.idle = append(p.idle, w)
	w.timer = time.AfterFunc(idleTime, func() { p.endIdle(w) })
}

func (p *jqPool) endIdle(w *jqProcess) {
	p.mu.Lock()
	i := slices.Index(p.idle, w)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		w.end()
	}
}
