// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// The example that "job init" writes.
var (
	//go:embed example.hcl
	exampleJob []byte
	//go:embed example_short.hcl
	exampleJobShort []byte
)

func jobInitCommand(c *cli) *cobra.Command {
	var short bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented example of a job file",
		Long: `Writes an example job file, "example.hcl" when no name is given, with a comment
for every block. It runs as it is. An existing file is left alone.`,
		Args: atMost(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "example.hcl"
			if len(args) == 1 {
				name = args[0]
			}
			text := exampleJob
			if short {
				text = exampleJobShort
			}
			return c.writeExample(name, text)
		},
	}
	cmd.Flags().BoolVar(&short, "short", false, "without comments")
	return cmd
}

func (c *cli) writeExample(name string, text []byte) error {
	if err := c.writeNew(name, text); err != nil {
		return err
	}
	fmt.Fprintf(c.Stderr, "\"reeve dev %s\" runs it on this machine; \"reeve job run %s\" registers it with a cluster.\n", name, name)
	return nil
}

// writeNew writes a file that does not exist yet.
func (c *cli) writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: choose another name", name)
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
