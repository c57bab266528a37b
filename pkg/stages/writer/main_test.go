package writer

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"seine/internal/testing/pgserver"
	"seine/internal/testing/s3server"
)

func TestMain(m *testing.M) {
	s3server.SetCredentials()
	pgserver.SetEnvironment()
	if os.Getenv(envChild) != "" {
		os.Exit(child())
	}
	if os.Getenv(envExport) != "" {
		os.Exit(exportChild())
	}
	if os.Getenv(envCompact) != "" {
		os.Exit(compactChild())
	}
	goleak.VerifyTestMain(m,
		// Process-wide timers of the server and of its store.
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server/ats.init.0.func1"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"),
		// Idle connections to S3.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
