//go:build !linux

package chromium

// KillLargePages does nothing on this system.
func (b *Browser) KillLargePages(int64) {}
