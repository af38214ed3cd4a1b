// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"
)

// Examples that "job init" writes.
var (
	//go:embed example.hcl
	exampleJob []byte
	//go:embed example_short.hcl
	exampleJobShort []byte
)

func jobInitCommand(c *cli) *command {
	var short bool
	return &command{
		use:   "init [FILE]",
		short: "Write an example job file",
		long: `Write an example job file with a comment for every block (default:
"example.hcl"). The example runs without changes. The command does not overwrite
files.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&short, "short", false, "leave comments out")
		},
		offline: true,
		run: func(r *call) error {
			name := "example.hcl"
			if len(r.args) == 1 {
				name = r.args[0]
			}
			text := exampleJob
			if short {
				text = exampleJobShort
			}
			return c.writeExample(name, text)
		},
	}
}

func (c *cli) writeExample(name string, text []byte) error {
	if err := c.writeNew(name, text); err != nil {
		return err
	}
	fmt.Fprintf(c.Stderr, "\"reeve dev %s\" runs it on this machine; \"reeve job run %s\" registers it with a cluster.\n", name, name)
	return nil
}

// writeNew writes a file, unless it exists.
func (c *cli) writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write %s: the file exists; choose another name", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "Wrote %s.\n", name)
	return nil
}
