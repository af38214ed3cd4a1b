// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/jobspec"
)

func jobFmtCommand(c *cli) *command {
	var check, list, write, recursive bool
	return &command{
		use:   "fmt [PATH...]",
		short: "Format job files and agent configuration",
		long: `Rewrite HCL files (*.hcl, *.nomad) with the standard indentation and alignment,
and print the names of changed files. PATH is a file or a directory (default:
the current directory). "-" reads stdin and writes stdout.`,
		exitCodes: "0  done; with -check: all files are formatted\n1  a file could not be read; with -check: a file would change",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&check, "check", false, "write nothing; exit 1 if a file would change")
			f.BoolVar(&list, "list", true, "print the names of changed files")
			f.BoolVar(&write, "write", true, "write the files; -write=false prints them instead")
			f.BoolVar(&recursive, "recursive", false, "descend into subdirectories")
		},
		offline: true,
		run: func(r *call) error {
			if len(r.args) == 0 {
				r.args = []string{"."}
			}
			f := formatter{c: c, list: list, write: write && !check, recursive: recursive}
			for _, path := range r.args {
				if err := f.format(path); err != nil {
					return err
				}
			}
			if check && f.changed > 0 {
				return exitWith(exitError)
			}
			return nil
		},
	}
}

// A formatter formats files.
type formatter struct {
	c         *cli
	list      bool
	write     bool
	recursive bool
	changed   int
}

func (f *formatter) format(path string) error {
	if path == "-" {
		text, err := io.ReadAll(f.c.Stdin)
		if err != nil {
			return err
		}
		out, err := jobspec.Format(text, "<stdin>")
		if err != nil {
			return err
		}
		_, err = f.c.Stdout.Write(out)
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return f.directory(path)
	}
	return f.file(path, info.Mode())
}

func (f *formatter) directory(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && !f.recursive:
			return fs.SkipDir
		case d.IsDir() || (!strings.HasSuffix(path, ".hcl") && !strings.HasSuffix(path, ".nomad")):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return f.file(path, info.Mode())
	})
}

func (f *formatter) file(path string, mode fs.FileMode) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out, err := jobspec.Format(text, path)
	if err != nil {
		return err
	}
	if !f.write && !f.list {
		_, err = f.c.Stdout.Write(out)
		return err
	}
	if bytes.Equal(text, out) {
		return nil
	}
	f.changed++
	if f.list {
		fmt.Fprintln(f.c.Stdout, path)
	}
	if f.write {
		return os.WriteFile(path, out, mode.Perm())
	}
	return nil
}
