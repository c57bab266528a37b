package state

import (
	"testing"

	"seine/pkg/crawlspec"
)

// A grant requested under one spec does not count under the next. It is requested again when that
// answer has come, not before.
func TestGrantOfTheSpecBeforeIsPassedOver(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxPages = 1000 })
	w.seed("https://a.test/1", "https://a.test/2")
	w.wantSent(w.dispatch(0))
	c := w.part.crawls.get("c")
	before := c.rules.fingerprint
	c.quota.want, c.quota.asked = false, true // the request is in progress
	w.change(func(s *crawlspec.Spec) { s.MaxPages = 10 })
	w.tend()
	if c.rules.fingerprint == before {
		t.Fatal("the rules have not changed")
	}
	if !c.quota.asked {
		t.Error("a second question would be under way with the first")
	}
	w.part.Budgets.Apply(&BudgetAnswer{BudgetRequest: &BudgetRequest{Crawl: "c", print: before}, Grant: Grant{Pages: 1000}})
	if c.quota.Pages != 0 || c.quota.asked {
		t.Errorf("after the answer to the first question: %+v", c.quota)
	}
	c.quota.asked = true
	w.part.Budgets.Apply(&BudgetAnswer{BudgetRequest: &BudgetRequest{Crawl: "c", print: c.rules.fingerprint}, Grant: Grant{Pages: 10}})
	if c.quota.Pages != 10 || c.quota.asked {
		t.Errorf("after the answer to the second question: %+v", c.quota)
	}
}
