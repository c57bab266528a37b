package state

import "strings"

// leftOutMark begins the reason of a URL whose page has no record because of a condition of the
// spec. The reason stays while the URL is visited again: an unchanged page is still left out.
const leftOutMark = "left out: "

// leftOut returns the reason if it begins with leftOutMark, else "".
func (r *urlRecord) leftOut() string {
	if strings.HasPrefix(r.Reason, leftOutMark) {
		return r.Reason
	}
	return ""
}

// isLeftOut reports whether the page of a URL has no record because of a condition.
func (r *urlRecord) isLeftOut() bool { return r.State == Done && r.leftOut() != "" }
