package doctor

import (
	"strings"
	"testing"

	"seine/internal/ops/overview"
)

// What is to be done about a stage that nobody runs is about that stage.
func TestMissingStage(t *testing.T) {
	all := []overview.Stage{{Name: "frontier", Instances: 1}, {Name: "parser", Instances: 1}}
	for _, tt := range []struct {
		name           string
		fetchers       int
		writers        int
		want, unwanted string
	}{
		{"fetcher", 0, 1, "start fetcher", "consumers"},
		{"writer pages", 1, 0, "delete its consumers", "fetcher"},
		{"none", 1, 1, "", "start"},
	} {
		o := &overview.Overview{Stages: append(all[:2:2], overview.Stage{Name: "fetcher", Instances: tt.fetchers}, overview.Stage{Name: "writer pages", Instances: tt.writers})}
		f := processes(o)
		if (f.Level == OK) != (tt.want == "") || !strings.Contains(f.Do, tt.want) || strings.Contains(f.Do, tt.unwanted) {
			t.Errorf("without %s: %+v", tt.name, f)
		}
	}
}
