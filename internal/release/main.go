// Command release makes the parts of a release beside its commands: archives, lists of modules and their licenses. It consumes files
// and the time of the commit, and emits files whose bytes depend on nothing else. scripts/release calls it, and so does
// deploy/Dockerfile.
package main

import (
	"github.com/alecthomas/kong"
)

type cli struct {
	Archive  archiveCmd  `cmd:"" help:"Put a folder into a .tar.gz or a .zip."`
	SBOM     sbomCmd     `cmd:"" name:"sbom" help:"List the modules that commands are made of, as CycloneDX JSON."`
	Licenses licensesCmd `cmd:"" help:"Collect the licenses of the modules that commands are made of."`
}

func main() {
	ctx := kong.Parse(new(cli), kong.Name("release"), kong.Description("Make the parts of a release; scripts/release calls it."))
	ctx.FatalIfErrorf(ctx.Run())
}
