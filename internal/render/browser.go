package render

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"seine/internal/render/chromium"
)

// sharedBrowser is a browser with the tabs of several slots. It is closed when it is retired and its last tab is left.
type sharedBrowser struct {
	*chromium.Browser
	most    int // pages until it is retired
	pages   atomic.Int64
	retired atomic.Bool

	mu   sync.Mutex
	tabs int
}

// count counts a page more.
func (b *sharedBrowser) count() {
	if b.pages.Add(1) >= int64(b.most) {
		b.retire()
	}
}

// retire lets no further tab be opened. What leaks in a browser goes with it.
func (b *sharedBrowser) retire() { b.retired.Store(true) }

func (b *sharedBrowser) isRetired() bool { return b.retired.Load() || b.ended() }

// ended reports whether the browser is gone.
func (b *sharedBrowser) ended() bool {
	select {
	case <-b.Done():
		return true
	default:
		return false
	}
}

// enter counts a tab that is about to be opened.
func (b *sharedBrowser) enter() {
	b.mu.Lock()
	b.tabs++
	b.mu.Unlock()
}

// leave counts a tab that was closed. The last one of a retired browser closes it.
func (b *sharedBrowser) leave() {
	b.mu.Lock()
	b.tabs--
	last := b.tabs == 0
	b.mu.Unlock()
	if last && b.isRetired() {
		b.Close()
	}
}

// watch subscribes to windows that pages open, and ends pages that take too much memory.
func (b *sharedBrowser) watch() {
	go b.watchMemory()
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	_ = target.SetDiscoverTargets(true).Do(cdp.WithExecutor(ctx, b))
}

// maxPageMemory bounds what a page may take outside of its scripts too, which Chromium does not: pictures, buffers, nodes.
const maxPageMemory = 1 << 30

// memoryWatch is between looks at the memory of pages, each of which takes 2 ms for 500 processes on the machine.
const memoryWatch = time.Second

func (b *sharedBrowser) watchMemory() {
	ticker := time.NewTicker(memoryWatch)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			b.KillLargePages(maxPageMemory)
		case <-b.Done():
			return
		}
	}
}

// heard receives the events of the browser as a whole: windows that pages open are closed at once.
func (b *sharedBrowser) heard(event any) {
	if e, ok := event.(*target.EventTargetCreated); ok && isPopup(e.TargetInfo) {
		go b.closeTarget(e.TargetInfo.TargetID)
	}
}

func (b *sharedBrowser) closeTarget(id target.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	_ = target.CloseTarget(id).Do(cdp.WithExecutor(ctx, b))
}
