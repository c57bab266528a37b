package atomicfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"seine/internal/base/jsontext"
)

// JSON is the suffix of the files that ReadAllJSON reads.
const JSON = ".json"

// WriteJSON replaces a file by the JSON encoding of v.
func WriteJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return Write(name, append(text, '\n'))
}

// ReadJSON decodes a file into v. The error is a *fs.PathError if the file cannot be read, and a
// different one if its text cannot be decoded.
func ReadJSON(name string, v any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := jsontext.Unmarshal(text, v); err != nil {
		return fmt.Errorf("decode %s: %w", name, err)
	}
	return nil
}

// errInvalid is the reason for skipping a file that valid rejects.
var errInvalid = errors.New("it is of another name or version")

// ReadAllJSON decodes the files of a directory whose names end in JSON, in the order of their
// names. It logs and skips a file that cannot be read, or whose value valid rejects; valid gets the
// name without the suffix. If rename is set, it renames a damaged file (Aside), which is therefore
// logged once; a file that could not be opened keeps its name.
func ReadAllJSON[T any](dir string, rename bool, log *slog.Logger, valid func(name string, v *T) bool) (all []*T, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	level := slog.LevelError
	if !rename {
		level = slog.LevelDebug // each call logs it
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), JSON)
		if !ok {
			continue
		}
		file, v := filepath.Join(dir, e.Name()), new(T)
		err := ReadJSON(file, v)
		if err == nil && !valid(name, v) {
			err = errInvalid
		}
		if err == nil {
			all = append(all, v)
			continue
		}
		if _, unread := errors.AsType[*fs.PathError](err); !unread && rename {
			err = errors.Join(err, os.Rename(file, file+Aside))
		}
		log.Log(context.Background(), level, "skipped a damaged file: fix or remove it", "file", file, "error", err)
	}
	return all, nil
}
