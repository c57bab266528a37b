package frontier

import (
	"fmt"
	"slices"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Storing a spec with seeds in NATS starts the crawl: nothing else is needed.
func TestStoredSpecWithSeedsStartsItsCrawl(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	var want []string
	text := `{"scope": "host", "delay": "0s", "seeds": [`
	for i := range 8 { // in both partitions
		url := fmt.Sprintf("https://host%d.test/", i)
		want = append(want, url)
		text += fmt.Sprintf("%q, ", url)
	}
	text += `{"url": "https://host9.test/", "priority": 0}]}`
	want = append(want, "https://host9.test/")
	kv, err := a.bus.Bucket(t.Context(), messages.BucketCrawls)
	a.must(err)
	_, err = kv.Put(t.Context(), "alone", []byte(text))
	a.must(err)
	spec, err := crawlspec.Decode([]byte(text))
	a.must(err)
	a.run(a.store(), 0)
	var sent []string
	a.eventually("all seeds are asked for", func() bool {
		for _, req := range a.takeRequests(10) {
			if req.Crawl == "alone" {
				sent = append(sent, req.URL)
			}
		}
		slices.Sort(sent)
		return slices.Equal(sent, want)
	})
	client := frontierapi.Client{Bus: a.bus}
	if end, _, err := client.CheckEnded(t.Context(), "alone", spec); err != nil || end != frontierapi.NotEnded {
		t.Errorf("it has ended: %s, %v", end, err)
	}
}
