// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func allocExecCommand(c *cli) *cobra.Command {
	var (
		to          target
		interactive bool
		tty         bool
	)
	cmd := &cobra.Command{
		Use:   "exec ALLOC COMMAND [ARG...]",
		Short: "Run a command beside a task, in its surroundings",
		Long: `Runs a command in a task's directories, environment and isolation, and ends with
the command's exit code. On a terminal it is interactive, with a terminal of
its own, unless -i=false or -t=false say otherwise. Everything after ALLOC is
the command's.`,
		Example: `reeve alloc exec 3f2a /bin/sh
reeve alloc exec -task server 3f2a env
echo hello | reeve alloc exec -t=false 3f2a cat`,
		Annotations: map[string]string{
			annotationPassArgs:  "1",
			annotationExitCodes: "the command's own; 1 also when it could not be run, and stderr says why",
		},
		ValidArgsFunction: c.completeIDs(api.SearchAllocations),
		RunE: func(cmd *cobra.Command, args []string) error {
			onTerminal := term.IsTerminal(c.Stdin) && term.IsTerminal(c.Stdout)
			if !cmd.Flags().Changed("tty") {
				tty = onTerminal
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			a, command, err := to.find(cmd.Context(), c, cl, args, false)
			if err != nil {
				return err
			}
			if len(command) > 0 && command[0] == "--" {
				command = command[1:]
			}
			if len(command) == 0 {
				return usagef("say which command to run")
			}
			task, err := chooseTask(a, to.task)
			if err != nil {
				return err
			}
			s := session{c: c, cl: cl, alloc: a.ID, request: client.Exec{Task: task, Command: command, TTY: tty}}
			return s.run(cmd.Context(), interactive)
		},
	}
	cmd.Flags().SetInterspersed(false)
	to.addTo(cmd)
	cmd.Flags().BoolVarP(&interactive, "interactive", "i", true, "hand stdin to the command")
	cmd.Flags().BoolVarP(&tty, "tty", "t", false, "give the command a terminal (default: when this one is one)")
	return cmd
}

// session is one command run beside a task.
type session struct {
	c       *cli
	cl      *client.Client
	alloc   string
	request client.Exec
}

func (s *session) run(ctx context.Context, interactive bool) error {
	s.request.Stdout, s.request.Stderr = s.c.Stdout, s.c.Stderr
	if interactive {
		s.request.Stdin = s.c.Stdin
	}
	if s.request.TTY && interactive {
		if stdin, ok := s.c.Stdin.(*os.File); ok {
			restore, resize, err := term.Raw(ctx, stdin)
			if err != nil {
				return err
			}
			defer restore()
			s.request.Resize = resize
		}
	}
	s.request.Command = slices.Clone(s.request.Command)
	code, err := s.cl.Allocations().Exec(ctx, s.alloc, s.request)
	if err != nil {
		return err
	}
	if code != exitOK {
		return exitWith(code)
	}
	return nil
}
