// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func clusterTokenShowCommand(c *cli) *command {
	return &command{
		use:   "show [KIND]",
		short: "Show the join tokens",
		long: `Show the tokens with which machines join the cluster. With KIND, "server" or
"node", print that token alone, so that it can be passed on.`,
		example: "reeve cluster token show\nreeve cluster token show node | ssh HOST 'cat > /run/join && reeve agent -join 10.0.0.1 -join-token-file /run/join'",
		format:  true,
		ownArgs: true,
		check:   checkTokenKind,
		run: func(r *call) error {
			tokens, err := r.cl.Cluster().JoinTokens(r.ctx)
			if err != nil {
				return err
			}
			if r.arg(0) != "" && r.format.forPeople() {
				fmt.Fprintln(c.Stdout, tokenOf(tokens, r.arg(0)))
				return nil
			}
			return r.show(tokens, func(p *term.Page) {
				p.Fields(term.Field{"Server", tokens.Server}, term.Field{"Node", tokens.Node})
				p.Next("Add a server:  REEVE_JOIN_TOKEN=... reeve agent -server -join HOST\nAdd a node:    REEVE_JOIN_TOKEN=... reeve agent -join HOST")
			})
		},
	}
}

// Kinds of tokens.
const (
	tokenServer   = "server"
	tokenNode     = "node"
	tokenOperator = "operator"
)

// checkTokenKind rejects an unknown kind of join token.
func checkTokenKind(r *call) error {
	if kind := r.arg(0); kind != "" && kind != tokenServer && kind != tokenNode {
		return usagef("%q is no kind of join token: it is server or node", kind)
	}
	return nil
}

func tokenOf(tokens *api.JoinTokens, kind string) string {
	if kind == tokenServer {
		return tokens.Server
	}
	return tokens.Node
}

func clusterTokenRotateCommand(c *cli) *command {
	return &command{
		use:   "rotate KIND",
		short: "Replace a token",
		long: `Replace the join token of servers ("server") or nodes ("node"), or the
operator's token ("operator"), and print the new one. The old token is no longer
valid. Members stay members. With "operator", your context receives the new
token, and other users log in again.`,
		example: "reeve cluster token rotate node",
		ownArgs: true,
		confirm: func(r *call) (string, error) {
			return fmt.Sprintf("Replace the %s token? The old one is no longer valid.", r.arg(0)), nil
		},
		check: func(r *call) error {
			switch r.arg(0) {
			case tokenServer, tokenNode, tokenOperator:
				return nil
			case "":
				return usagef("KIND is missing: server, node or operator")
			}
			return usagef("%q is no kind of token: it is server, node or operator", r.arg(0))
		},
		run: func(r *call) error {
			if r.arg(0) == tokenOperator {
				token, err := r.cl.Cluster().RotateOperatorToken(r.ctx)
				if err != nil {
					return err
				}
				fmt.Fprintln(c.Stdout, token.Token)
				return c.replaceToken(token.Token)
			}
			tokens, err := r.cl.Cluster().RotateJoinToken(r.ctx, r.arg(0))
			if err != nil {
				return err
			}
			fmt.Fprintln(c.Stdout, tokenOf(tokens, r.arg(0)))
			return nil
		},
	}
}
