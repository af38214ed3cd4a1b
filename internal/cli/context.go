// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/internal/cli/contexts"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func contextCommand(*cli) *command {
	return &command{
		use:   "context",
		short: "List and choose the clusters that you logged in to",
		long: `A context is a cluster with your token. "reeve login" creates it, and makes it
current: commands then use its cluster, without further flags. -address,
REEVE_ADDR and NOMAD_ADDR take precedence. Contexts are in
~/.config/reeve/contexts.json, which only you can read.`,
		verbs: []constructor{contextListCommand, contextUseCommand, contextDeleteCommand},
	}
}

// contexts reads the user's contexts.
func (c *cli) contexts() (*contexts.File, error) {
	dir, err := contexts.Dir(c.Getenv)
	if err != nil {
		return nil, err
	}
	return contexts.Load(dir)
}

// replaceToken stores a new operator's token in the contexts with the one that it replaced.
func (c *cli) replaceToken(token string) error {
	file, err := c.contexts()
	if err != nil {
		return nil // commands do not use contexts either
	}
	replaced := file.ReplaceToken(c.sent, token)
	if len(replaced) == 0 {
		fmt.Fprintln(c.Stderr, "Log in again with the new token where the old one was used: reeve login HOST")
		return nil
	}
	if err := file.Save(); err != nil {
		return fmt.Errorf("store the new token, which is valid now: %w; log in with it: reeve login HOST", err)
	}
	fmt.Fprintf(c.Stderr, "Stored in context %s. Other users log in again: reeve login HOST\n", strings.Join(replaced, ", "))
	return nil
}

// A listedContext is a context without its secret.
type listedContext struct {
	Name    string
	Current bool
	Servers []string
}

func contextListCommand(*cli) *command {
	return &command{
		use:     "list",
		short:   "List contexts",
		format:  true,
		offline: true,
		run: func(r *call) error {
			file, err := r.contexts()
			if err != nil {
				return err
			}
			list := []listedContext{}
			for _, context := range file.Contexts {
				list = append(list, listedContext{context.Name, context.Name == file.Current, context.Servers})
			}
			return r.show(list, func(p *term.Page) {
				var rows [][]string
				for _, context := range list {
					current := ""
					if context.Current {
						current = "*"
					}
					rows = append(rows, []string{human.Dash(current), context.Name, strings.Join(context.Servers, ", ")})
				}
				p.Table([]string{"Current", "Name", "Servers"}, rows)
				if len(list) == 0 {
					p.Next("Log in to a cluster:  reeve login HOST")
				}
			})
		},
	}
}

func contextUseCommand(c *cli) *command {
	return &command{
		use:     "use NAME",
		short:   "Choose the cluster of the following commands",
		example: "reeve context use prod",
		ownArgs: true,
		offline: true,
		run: func(r *call) error {
			file, err := r.contexts()
			if err != nil {
				return err
			}
			if r.arg(0) == "" {
				return usagef("missing argument NAME: see reeve context list")
			}
			context, err := file.Find(r.arg(0))
			if err != nil {
				return err
			}
			file.Current = context.Name
			if err := file.Save(); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Commands use context %s: %s\n", context.Name, strings.Join(context.Servers, ", "))
			return nil
		},
	}
}

func contextDeleteCommand(c *cli) *command {
	return &command{
		use:     "delete NAME",
		short:   "Delete a context with its token",
		example: "reeve context delete prod",
		ownArgs: true,
		offline: true,
		run: func(r *call) error {
			file, err := r.contexts()
			if err != nil {
				return err
			}
			if err := file.Delete(r.arg(0)); err != nil {
				return err
			}
			if err := file.Save(); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted context %s.\n", r.arg(0))
			return nil
		},
	}
}
