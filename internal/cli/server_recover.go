// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/cli/human"
)

func serverRecoverCommand(c *cli) *command {
	var dataDir string
	var dryRun bool
	return &command{
		use:   "recover",
		short: "Recover from the loss of most servers",
		long: `Make the server of this machine the only voter of its cluster, because most of
the servers are lost. Run it once, on the survivor with the highest index, while
its agent is stopped. It keeps a copy of the data. Changes that only the lost
servers acknowledged are lost. Delete the data of the lost servers before their
machines start again: they would form a second cluster.`,
		example: "reeve server recover -data-dir /var/lib/reeve",
		offline: true,
		strict:  true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&dataDir, "data-dir", "", "data directory of the stopped agent")
			f.BoolVar(&dryRun, "dry-run", false, "show the newest change and the dropped servers, and change nothing")
		},
		check: func(*call) error {
			if dataDir == "" {
				return usagef("set -data-dir to the data directory of the stopped agent")
			}
			return nil
		},
		confirm: func(*call) (string, error) {
			if dryRun {
				return "", nil
			}
			return fmt.Sprintf("Make the server in %s the only voter? Changes that only other servers acknowledged are lost.", dataDir), nil
		},
		run: func(*call) error {
			res, err := agent.RecoverServer(dataDir, dryRun)
			if err != nil {
				return err
			}
			written := ""
			if !res.LastTime.IsZero() {
				written = ", written " + human.Age(c.Now(), res.LastTime) + " (" + res.LastTime.UTC().Format(time.RFC3339) + ")"
			}
			fmt.Fprintf(c.Stdout, "Server %s: its newest change is entry %d of term %d%s. Later changes are lost.\n", res.ServerID, res.LastIndex, res.LastTerm, written)
			verb := "Dropped"
			if dryRun {
				verb = "Would drop"
			}
			for _, p := range res.Dropped {
				fmt.Fprintf(c.Stdout, "%s server %s at %s. Delete its data before its machine starts again.\n", verb, p.ID, p.Address)
			}
			if !dryRun {
				fmt.Fprintf(c.Stdout, "A copy of the previous data is in %s.\nNext: start the agent, and join new servers.\n", res.Copy)
			}
			return nil
		},
	}
}
