//go:build !linux

package chromium

// KillLargePages does nothing here.
func (b *Browser) KillLargePages(int64) {}
