package state

import "strings"

// leftOutMark begins the reason of a URL whose page has no record because of a condition of
// the spec. While the URL is visited again it stays: an unchanged page is left out still.
const leftOutMark = "left out: "

// leftOut returns such a reason, "" if it is another.
func (r *urlRecord) leftOut() string {
	if strings.HasPrefix(r.Reason, leftOutMark) {
		return r.Reason
	}
	return ""
}

// isLeftOut reports whether the page of a URL has no record because of a condition.
func (r *urlRecord) isLeftOut() bool { return r.State == Done && r.leftOut() != "" }
