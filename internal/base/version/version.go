// Package version says which Seine this is.
package version

import "runtime/debug"

// Number is the version of this source.
const Number = "0.1.0"

// String returns the version with the commit it was built from, if known.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Number
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return Number + " (" + s.Value[:12] + ")"
		}
	}
	return Number
}
