package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"seine/internal/testing/axe"
	"seine/internal/testing/browser"
)

// processesOf returns the IDs of the processes of a stage, as the API lists them.
func processesOf(t *testing.T, url, stage string) (ids []string) {
	t.Helper()
	_, a := ask(t, "GET", url+"/api/v1/processes", "")
	items, _ := a["items"].([]any)
	for _, one := range items {
		if p, _ := one.(map[string]any); p["stage"] == stage && p["drains"] == true {
			ids = append(ids, fmt.Sprint(p["id"]))
		}
	}
	return ids
}

// awaitProcesses waits until a stage has n processes.
func awaitProcesses(t *testing.T, url, stage string, n int, ps ...*process) (ids []string) {
	t.Helper()
	eventually(t, patience, fmt.Sprintf("know %d of %s", n, stage), func() (bool, string) {
		ids = processesOf(t, url, stage)
		return len(ids) == n, fmt.Sprint(ids)
	}, ps...)
	return ids
}

// wantDrained waits until one of the processes has ended by itself without an error.
func wantDrained(t *testing.T, ps ...*process) (which *process) {
	t.Helper()
	eventually(t, patience, "end", func() (bool, string) {
		for _, p := range ps {
			select {
			case <-p.gone:
				which = p
			default:
			}
		}
		return which != nil, ""
	})
	if which.err != nil || !strings.Contains(which.log.String(), "drained") {
		t.Errorf("%s ended with %v", which.name, which.err)
	}
	return which
}

// A process is drained by the button, and another by the plain form, as a browser without scripts
// sends it. No other process ends.
func TestProcessesAreDrainedFromAfar(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shape{fetchers: 2})
	_, url := served(t, "--nats", c.url, "--state", t.TempDir())
	awaitProcesses(t, url, "fetcher", 2, c.all()...)
	tab := browser.Start(t).Open()
	tab.Go(url + "/processes")
	button := `[...document.querySelectorAll("button")].find(b => b.textContent === "Drain fetcher")`
	tab.Holds(button)
	tab.Eval(button+".closest('details').querySelector('summary').click()", nil)
	axe.Check(t, tab)
	tab.Eval(button+".click()", nil)
	tab.Shows("finishes what it has, and ends.")
	left := c.fetch[0]
	if wantDrained(t, c.fetch...) == left {
		left = c.fetch[1]
	}
	id := awaitProcesses(t, url, "fetcher", 1)[0]
	resp, err := http.PostForm(url+"/processes/"+id+"/drain", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Path != "/processes" { // the redirect leads back to the page
		t.Errorf("%s of %s", resp.Status, resp.Request.URL)
	}
	wantDrained(t, left)
	awaitProcesses(t, url, "fetcher", 0)
	if status, a := ask(t, "POST", url+"/api/v1/processes/"+id+"/drain", ""); status != http.StatusNotFound {
		t.Errorf("%d %v", status, a)
	}
	if processes := append(processesOf(t, url, "parser"), processesOf(t, url, "frontier")...); len(processes) != 2 {
		t.Errorf("a parser and a frontier run, and %v are known", processes)
	}
	tab.Go(url + "/audit")
	tab.Shows("process " + id)
}

// wantDrainedByOperator checks on a locked server that the operator can drain a stage with its own
// account, and the viewer cannot.
func (l *locked) wantDrainedByOperator(spare *process) {
	l.t.Helper()
	_, url := served(l.t, append(l.as("operator"), "--state", l.t.TempDir())...)
	_, look := served(l.t, append(l.as("viewer"), "--state", l.t.TempDir())...)
	ids := awaitProcesses(l.t, url, "fetcher", 2, l.all()...)
	status, a := ask(l.t, "POST", look+"/api/v1/processes/"+ids[0]+"/drain", "")
	if status != http.StatusForbidden || !strings.Contains(fmt.Sprint(a["detail"]), "does not let user viewer") {
		l.t.Errorf("drain as viewer: %d %v", status, a)
	}
	if status, a = ask(l.t, "POST", url+"/api/v1/processes/"+ids[0]+"/drain", ""); status != http.StatusAccepted || a["draining"] != true {
		l.t.Errorf("drain as operator: %d %v", status, a)
	}
	if left := l.fetch[0]; wantDrained(l.t, left, spare) == left {
		l.fetch[0] = spare
	}
}
