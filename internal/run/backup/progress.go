package backup

import "fmt"

// Progress is told in words what is being done. It may be nil, which tells nobody.
type Progress func(text string)

func (p Progress) say(format string, args ...any) {
	if p != nil {
		p(fmt.Sprintf(format, args...))
	}
}
