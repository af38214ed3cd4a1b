// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	xterm "golang.org/x/term"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/keyring"
)

func keyringRecoverCommand(c *cli) *command {
	var file string
	return &command{
		use:   "recover",
		short: "Open the variables of a restored snapshot with the recovery key",
		long: `After a snapshot was restored on new machines, open its root keys with the
recovery key of the earlier cluster. The key is read from -key-file, standard
input, or the terminal: never give it as an argument, which other users of this
machine can see.`,
		example: "reeve keyring recover < recovery.key",
		format:  true,
		flags:   func(f *pflag.FlagSet) { f.StringVar(&file, "key-file", "", "read the recovery key from `FILE`") },
		run: func(r *call) error {
			text, err := c.readRecoveryKey(file)
			if err != nil {
				return err
			}
			if _, err := keyring.ParseRecovery(text); err != nil {
				return api.Errorf(api.CodeInvalid, "%v", err)
			}
			resp, err := r.cl.Keyring().Recover(r.ctx, text)
			if err != nil {
				return err
			}
			if err := r.show(resp, func(p *term.Page) {
				if len(resp.Recovered)+len(resp.Failed) == 0 {
					p.Line("All root keys are open already.")
					return
				}
				p.Line("Opened %s.", human.Count(len(resp.Recovered), "root key", "root keys"))
				for _, failed := range resp.Failed {
					p.Line("Not opened: %s", failed)
				}
			}); err != nil {
				return err
			}
			if len(resp.Failed) > 0 {
				return exitWith(exitError)
			}
			return nil
		},
	}
}

// readRecoveryKey reads the secret of a recovery key.
func (c *cli) readRecoveryKey(file string) (string, error) {
	if file == "" && term.IsTerminal(c.Stdin) {
		fmt.Fprint(c.Stderr, "Recovery key: ")
		text, err := xterm.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(c.Stderr)
		return strings.TrimSpace(string(text)), err
	}
	in := c.Stdin
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, 4<<10))
	return strings.TrimSpace(string(text)), err
}
