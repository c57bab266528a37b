package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"seine/internal/serve/caller"
)

// Many addresses without a token do not evict the rate limit of a caller.
func TestAddressesDoNotEvictTheLimitOfACaller(t *testing.T) {
	t.Parallel()
	h := (&Options{Rate: 0.001}).limitCallers(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	send := func(name, address string) int {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(caller.With(r.Context(), caller.Caller{Name: name})))
		return w.Code
	}
	if got := send("ann", "10.0.0.1:1"); got != http.StatusOK {
		t.Fatalf("the first request: %d", got)
	}
	for i := range 2000 {
		send("", fmt.Sprintf("10.1.%d.%d:1", i/250, i%250))
	}
	if got := send("ann", "10.0.0.1:1"); got != http.StatusTooManyRequests {
		t.Errorf("the second request: %d, want 429", got)
	}
}
