package backup

import "fmt"

// Progress receives a description of each step as it begins. A nil Progress is valid.
type Progress func(text string)

func (p Progress) report(format string, args ...any) {
	if p != nil {
		p(fmt.Sprintf(format, args...))
	}
}
