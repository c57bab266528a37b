package replay

import (
	"fmt"
	"path/filepath"
	"testing"

	"seine/internal/output/bucket"
	"seine/internal/testing/pgserver"
	"seine/internal/testing/s3server"
)

// A destination without a log, one with this replay's log, and one with another's are
// distinguished, in all kinds of destinations.
func TestReplayToOtherPlaces(t *testing.T) {
	s3server.SetCredentials()
	pgserver.SetEnvironment()
	s3, pg := s3server.Start(t), pgserver.Start(t)
	k := newKit(t)
	for i := range 10 {
		k.page("a", fmt.Sprintf("http://one.test/%d", i), 1)
	}
	for name, out := range map[string]string{
		"s3": s3.Out(), "postgres": pg.DSN(pg.Database()), "sqlite": "sqlite:" + filepath.Join(t.TempDir(), "out.db"),
	} {
		t.Run(name, func(t *testing.T) {
			o := k.options()
			o.Writer.Out, o.State = out, filepath.Join(t.TempDir(), "state")
			if name == "s3" {
				o.Writer.S3 = bucket.Options{Endpoint: s3.Endpoint(), PathStyle: true}
			}
			if r := k.run(o); r.Records != 10 || r.Kinds["page"] != 10 || r.Again {
				t.Errorf("the first time: %+v", r)
			}
			if r := k.run(o); !r.Again {
				t.Errorf("once more: %+v", r)
			}
			o.State += "2"
			if _, err := Run(t.Context(), o); err == nil {
				t.Error("another replay goes to the same place")
			}
		})
	}
}
