package backup

import "fmt"

// Progress is called with a text about each step that begins; nil is not called.
type Progress func(text string)

func (p Progress) say(format string, args ...any) {
	if p != nil {
		p(fmt.Sprintf(format, args...))
	}
}
