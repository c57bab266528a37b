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

// sharedBrowser is a browser with the tabs of several slots. A retired browser is closed with its
// last tab.
type sharedBrowser struct {
	*chromium.Browser
	most    int // pages until it is retired
	pages   atomic.Int64
	retired atomic.Bool

	mu   sync.Mutex
	tabs int
}

// count counts a page.
func (b *sharedBrowser) count() {
	if b.pages.Add(1) >= int64(b.most) {
		b.retire()
	}
}

// retire prevents further tabs. Restarting the browser also frees leaked resources.
func (b *sharedBrowser) retire() { b.retired.Store(true) }

func (b *sharedBrowser) isRetired() bool { return b.retired.Load() || b.ended() }

// ended reports whether the browser has ended.
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

// leave counts a closed tab. The last one closes a retired browser.
func (b *sharedBrowser) leave() {
	b.mu.Lock()
	b.tabs--
	last := b.tabs == 0
	b.mu.Unlock()
	if last && b.isRetired() {
		b.Close()
	}
}

// watch subscribes to the creation of windows, and starts ending pages that take too much memory.
func (b *sharedBrowser) watch() {
	go b.watchMemory()
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	_ = target.SetDiscoverTargets(true).Do(cdp.WithExecutor(ctx, b))
}

// maxPageMemory bounds the total memory of a page. Chromium limits only scripts, not images,
// buffers and nodes.
const maxPageMemory = 1 << 30

// memoryWatch is the interval between memory checks of pages, each of which takes 2 ms for 500
// processes on the machine.
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

// heard receives the events of the browser itself. It closes windows that pages open.
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
