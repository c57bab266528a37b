package connect

import (
	"fmt"
	"os"
)

// private returns an error if file is not a regular file. Its mode does not show who may change it:
// on Windows, the access list of the directory does.
func private(file string) error {
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: remove it and start the crawl again", file)
	}
	return err
}
