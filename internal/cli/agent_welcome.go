// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// welcome tells the founder of a cluster how other machines join. Tokens are shown only on a
// terminal: logs of services are kept, and read by others.
func (c *cli) welcome(f agent.Founded) {
	server, node := "REEVE_JOIN_TOKEN=... ", "REEVE_JOIN_TOKEN=... "
	if term.IsTerminal(c.Stdout) {
		server, node = "REEVE_JOIN_TOKEN="+f.Tokens.Server+" ", "REEVE_JOIN_TOKEN="+f.Tokens.Node+" "
	}
	fmt.Fprintf(c.Stdout, `This machine is the first server of a new cluster.

Add a server:  %[2]sreeve agent -server -join %[1]s
Add a node:    %[3]sreeve agent -join %[1]s
Log in:        reeve login %[1]s

"reeve cluster token show" on this machine shows the join tokens. The operator's
token for "reeve login" is in %[4]s
`, strings.TrimSuffix(f.Address, ":"+defaultPort), server, node, f.OperatorToken)
}
