package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
	"seine/internal/serve/snapshots"
)

// slowest is how long a browser may take to read an event before it is cut off.
const slowest = 10 * time.Second

// lookEvent is an event: that there is something new to show.
type lookEvent struct {
	At      time.Time    `json:"at"`
	Mode    cluster.Mode `json:"mode"`
	Problem string       `json:"problem,omitempty"`
}

// events tells a browser of each look, as server-sent events. Pages then ask for themselves again.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	if err := allowed(r, caller.Read); err != nil {
		s.failed(w, r, err)
		return
	}
	looks, stop := s.Feed.Watch()
	defer stop()
	c := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy passes events on at once
	if !send(w, c, "retry: 2000\n\n") {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case seen := <-looks:
			if !send(w, c, eventOf(seen)) {
				return
			}
		}
	}
}

func eventOf(seen *snapshots.Snapshot) string {
	text, _ := json.Marshal(lookEvent{seen.At, seen.Mode, seen.Problem}) // of a struct that always can be
	return fmt.Sprintf("event: look\ndata: %s\n\n", text)
}

// send writes to a browser, and reports whether it takes it.
func send(w http.ResponseWriter, c *http.ResponseController, text string) bool {
	_ = c.SetWriteDeadline(time.Now().Add(slowest)) // not every server can
	_, err := w.Write([]byte(text))
	return err == nil && c.Flush() == nil
}
