package scriptweb

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"golang.org/x/net/websocket"
)

// entry is an item of an API list.
type entry struct {
	Name string `json:"name"`
	Href string `json:"href"`
}

// entries serves an API list, with the parameters "from" and "count".
func entries(kind string, total int) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("from"))
		count, _ := strconv.Atoi(r.URL.Query().Get("count"))
		from, count = max(from, 1), min(max(count, 1), 100)
		list := struct {
			Items []entry `json:"items"`
			Next  string  `json:"next,omitempty"`
		}{Items: []entry{}}
		for n := from; n < from+count && n <= total; n++ {
			list.Items = append(list.Items, entry{fmt.Sprintf("%s entry %d of %d", kind, n, total), fmt.Sprintf("/leaf/%s-entry-%d", kind, n)})
		}
		if from+count <= total {
			list.Next = fmt.Sprintf("%s?from=%d&count=%d", r.URL.Path, from+count, count)
		}
		asJSON(rw, list)
	}
}

func asJSON(rw http.ResponseWriter, v any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(v) // fails if the client has left
}

// socket receives a WebSocket message, sends two and stays open.
func (w *Web) socket(rw http.ResponseWriter, r *http.Request) {
	websocket.Handler(func(c *websocket.Conn) {
		var subscribed string
		if websocket.Message.Receive(c, &subscribed) != nil {
			return
		}
		for _, n := range []string{"one", "two"} {
			if websocket.Message.Send(c, "message "+n+" of the socket") != nil {
				return
			}
		}
		w.stayOpen(c)
	}).ServeHTTP(rw, r)
}

// stayOpen waits until the client closes the connection or the Web is closed.
func (w *Web) stayOpen(c *websocket.Conn) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var more string
		for websocket.Message.Receive(c, &more) == nil {
		}
	}()
	select {
	case <-closed:
	case <-w.ended:
		_ = c.Close()
		<-closed
	}
}

// events sends two events and, if end is set, an event that marks the end.
func (w *Web) events(end bool) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(rw, "data: event one of the server\n\ndata: event two of the server\n\n")
		if end {
			fmt.Fprint(rw, "event: end\ndata:\n\n")
		}
		_ = http.NewResponseController(rw).Flush()
		w.hang(r)
	}
}
