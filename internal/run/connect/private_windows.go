package connect

import (
	"fmt"
	"os"
)

// private reports an error unless a file is one. Who may change it is up to the folder's access list there, which its mode
// does not show.
func private(file string) error {
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: remove it and start the crawl again", file)
	}
	return err
}
