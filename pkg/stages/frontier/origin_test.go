package frontier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// Permissions define who may publish to which subject, so candidates are accepted only on the
// subject of their source, crawl and partition: a parser that a page has compromised can neither
// add seeds nor report that a seed redirected elsewhere.
func TestCandidatesOnTheSubjectOfAnother_Dead(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	a.own(a.store(), 1, time.Hour)
	host := hosts(1)[0]
	sources := []messages.Source{messages.SourceSeed, messages.SourceRedirect, messages.SourceLink}
	var wrong int
	for _, says := range sources {
		for _, on := range sources {
			for _, crawl := range []string{"c", "d"} {
				if on == says && crawl == "c" {
					continue
				}
				wrong++
				c := messages.Candidates{Crawl: "c", Source: says, URLs: []messages.Candidate{{URL: fmt.Sprintf("http://%s/%s/%s/%s", host, says, on, crawl)}}}
				if says != messages.SourceSeed {
					c.Referrer = "http://" + host + "/"
				}
				a.publish(messages.SubjectURLs(on, crawl, 0), "", c.Encode())
			}
		}
	}
	a.seed("http://" + host + "/right")
	if got := a.take(1)[0]; got.URL != "http://"+host+"/right" {
		t.Errorf("%s is fetched", got.URL)
	}
	dead := natstest.Stored(t, a.bus.JS, messages.StreamDead)
	if len(dead) != wrong {
		t.Errorf("%d dead letters, want %d", len(dead), wrong)
	}
	for _, d := range dead {
		if !strings.Contains(d, host) {
			t.Errorf("dead letter %q", d)
		}
	}
}
