// Command natsusers sets up a locked-down NATS server: a certificate authority, certificates, a key
// for each user, and the server's configuration.
package main

import (
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"seine/internal/base/safeprint"
	"seine/internal/base/version"
	"seine/internal/run/manpage"
	"seine/internal/run/roles/setup"
)

type flags struct {
	Dir     string           `arg:"" help:"Directory of the installation. It is created with access for its owner only."`
	Version kong.VersionFlag `help:"Print the version."`
	Man     manpage.Flag     `hidden:"" help:"Print the manual page."`
}

const about = `Create the certificates, keys and configuration of a locked-down NATS server and its users. Existing keys are kept.

The first run writes DIR/installation.yaml, which describes the installation. Edit it, then run natsusers again. Also run it monthly:
it renews certificates in their last month. To replace the keys of a user, remove its directory and run natsusers again.

  natsusers ./bus
  nats-server -c ./bus/server/nats-server.conf
  fetcher --nats-context ./bus/users/fetcher

Keep DIR/ca/key.pem and DIR/users/admin offline.`

func main() {
	var f flags
	kong.Parse(&f, kong.Name("natsusers"), kong.Description(about), kong.Vars{"version": version.Line("natsusers")})
	r, err := setup.Run(f.Dir)
	if err != nil {
		safeprint.Fprintln(os.Stderr, "natsusers:", err)
		os.Exit(1)
	}
	for _, name := range r.Made {
		safeprint.Println("wrote", name)
	}
	for _, name := range r.Nobody {
		safeprint.Println("unused, remove it:", name)
	}
	if len(r.Made) == 0 {
		safeprint.Println("nothing to do")
		return
	}
	safeprint.Println("to update a running server, copy", filepath.Join(f.Dir, "server"), "to it, then run: nats-server --signal reload")
}
