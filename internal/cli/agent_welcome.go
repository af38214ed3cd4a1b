// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// welcome tells the founder of a cluster how other machines join. Secrets are shown only on a
// terminal: logs of services are kept, and read by others. It reports whether it showed them.
func (c *cli) welcome(f agent.Founded) (shown bool) {
	server, node := "REEVE_JOIN_TOKEN=... ", "REEVE_JOIN_TOKEN=... "
	recovery := "The recovery key is in " + f.RecoveryPath + ": move the file away from the servers."
	if f.RecoveryKey == "" {
		recovery = "Create a recovery key with: reeve keyring recovery-key"
	}
	terminal := term.IsTerminal(c.Stdout)
	if terminal {
		server, node = "REEVE_JOIN_TOKEN="+f.Tokens.Server+" ", "REEVE_JOIN_TOKEN="+f.Tokens.Node+" "
	}
	if shown = terminal && f.RecoveryKey != ""; shown {
		recovery = "Recovery key:  " + f.RecoveryKey + "\nIt is shown only now. Keep it away from the servers."
	}
	fmt.Fprintf(c.Stdout, `This machine is the first server of a new cluster.

Add a server:  %[2]sreeve agent -server -join %[1]s
Add a node:    %[3]sreeve agent -join %[1]s
Log in:        reeve login %[1]s

"reeve cluster token show" on this machine shows the join tokens. The operator's
token for "reeve login" is in %[4]s

%[5]s
With it and a snapshot, new servers can read the cluster's variables.
`, strings.TrimSuffix(f.Address, ":"+defaultPort), server, node, f.OperatorToken, recovery)
	return shown
}
