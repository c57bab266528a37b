package connect

import (
	"fmt"
	"os"
)

// private reports an error unless a file is one. The folder's access list there says who may change it, which its mode
// does not show.
func private(file string) error {
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: remove it and start the crawl again", file)
	}
	return err
}
