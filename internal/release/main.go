// Command release makes what a release has beside its commands: archives and lists of what is in them. It consumes files
// and the time of the commit, and emits files whose bytes depend on nothing else. scripts/release calls it, and so does
// deploy/Dockerfile.
package main

import (
	"github.com/alecthomas/kong"
)

type cli struct {
	Archive archiveCmd `cmd:"" help:"Put a folder into a .tar.gz or a .zip."`
	SBOM    sbomCmd    `cmd:"" name:"sbom" help:"List the modules that commands are made of, as CycloneDX JSON."`
}

func main() {
	ctx := kong.Parse(new(cli), kong.Name("release"), kong.Description("Make the parts of a release; scripts/release calls it."))
	ctx.FatalIfErrorf(ctx.Run())
}
