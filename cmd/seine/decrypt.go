package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"seine/internal/output/ageencrypt"
)

type decryptCmd struct {
	Files  []string `arg:"" name:"file" help:"Encrypted files."`
	Beside bool     `help:"Write each file next to the encrypted one, named without .age, instead of to standard output."`
	identities
}

// Help is shown below the list of flags.
func (c *decryptCmd) Help() string {
	return `Prints the files as they were before encryption, still compressed; seine cat prints the records. The files are age files
(age-encryption.org), which age -d reads too. Examples:

  seine decrypt part-000-….jsonl.zst.age --identity key.txt | zstd -d | head -n 1
  seine decrypt seine-out/*/*.age --identity key.txt --beside`
}

// Run decrypts files.
func (c *decryptCmd) Run() error {
	ids, err := c.read()
	if err != nil {
		return err
	}
	if len(c.Identity) == 0 {
		return usageError{errors.New("--identity: name the file of the secret key")}
	}
	for _, f := range c.Files {
		if err := c.decrypt(f, ids); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = usageError{err}
			}
			return fmt.Errorf("decrypt %s: %w", f, err)
		}
	}
	return nil
}

func (c *decryptCmd) decrypt(file string, ids ageencrypt.Identities) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := ids.Open(in)
	if err != nil {
		return err
	}
	if !c.Beside {
		_, err := io.Copy(dataOut(), plain)
		return err
	}
	if !ageencrypt.Is(file) {
		return fmt.Errorf("its name does not end in %s: decrypt it to standard output", ageencrypt.Ext)
	}
	return writeNew(ageencrypt.PlainName(file), plain)
}

// writeNew atomically creates a file, and never replaces one.
func writeNew(name string, content io.Reader) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".decrypt-*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = io.Copy(f, content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), name)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: move it away", name)
	}
	return err
}
