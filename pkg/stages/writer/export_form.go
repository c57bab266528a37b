package writer

import (
	"cmp"
	"fmt"
	"strings"

	"seine/internal/output"
)

// formOf returns the form of an output, with defaults for omitted options.
func formOf(to *OutputConfig) *output.Form {
	full := to.Effective()
	return &output.Form{
		Format: full.Format, Path: full.Path, Key: full.Key,
		Encrypted: len(full.Encrypt) > 0, CSVBOM: full.CSVBOM, CSVSafe: full.CSVSafe,
	}
}

// checkForm refuses a target with an export in another form: its files would not be written again,
// and new ones would have another form. It checks only the newest entry.
func (x *export) checkForm() error {
	log, ok := x.sink.(output.Log)
	if !ok {
		return nil
	}
	refs, err := log.List(-1)
	if err != nil || len(refs) == 0 {
		return err
	}
	last, err := log.Read(refs[len(refs)-1])
	if err != nil || last.Form == nil { // the log of a writer
		return err
	}
	other := differences(last.Form, formOf(&x.To))
	if len(other) == 0 {
		return nil
	}
	return fmt.Errorf("--to %s: has an export with other flags: %s: name another directory, or use those flags", x.To.Out, strings.Join(other, "; "))
}

// differences lists how two forms differ, by their flags.
func differences(there, here *output.Form) (all []string) {
	yes := map[bool]string{true: "given", false: "not given"}
	for _, f := range []struct{ flag, there, here string }{
		{"--format", there.Format, here.Format}, {"--path", there.Path, here.Path}, {"--key", there.Key, here.Key},
		{"--encrypt", yes[there.Encrypted], yes[here.Encrypted]}, {"--csv-bom", yes[there.CSVBOM], yes[here.CSVBOM]},
		{"--csv-safe", yes[there.CSVSafe], yes[here.CSVSafe]},
	} {
		if f.there != f.here {
			all = append(all, fmt.Sprintf("%s is %s there, and %s here", f.flag, cmp.Or(f.there, "not given"), cmp.Or(f.here, "not given")))
		}
	}
	return all
}
