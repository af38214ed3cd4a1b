// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func allocExecCommand(c *cli) *command {
	var (
		to          target
		interactive bool
		tty         bool
	)
	return &command{
		use:   "exec ALLOC COMMAND [ARG...]",
		short: "Run a command in the environment of a task",
		long: `Run a command in a task's directories, environment and isolation, and exit with
the command's exit code. On a terminal the command is interactive and has a
terminal, unless -i=false or -t=false is set. Everything after ALLOC belongs to
the command.`,
		example: `reeve alloc exec 3f2a /bin/sh
reeve alloc exec -task server 3f2a env
echo hello | reeve alloc exec -t=false 3f2a cat`,
		exitCodes: "the command's own; also 1 if the command could not run: stderr has the reason",
		passArgs:  true,
		ownArgs:   true, // -job takes the place of ALLOC
		flags: func(f *pflag.FlagSet) {
			to.addTo(f)
			f.BoolVarP(&interactive, "interactive", "i", true, "pass stdin to the command")
			f.BoolVarP(&tty, "tty", "t", false, "allocate a terminal (default: if stdin and stdout are terminals)")
		},
		check: func(r *call) error {
			if !r.flags.Changed("tty") {
				tty = term.IsTerminal(c.Stdin) && term.IsTerminal(c.Stdout)
			}
			return nil
		},
		run: func(r *call) error {
			a, command, err := to.find(r.ctx, c, r.cl, r.args, false)
			if err != nil {
				return err
			}
			if len(command) > 0 && command[0] == "--" {
				command = command[1:]
			}
			if len(command) == 0 {
				return usagef("missing argument COMMAND")
			}
			task, err := chooseTask(a, to.task)
			if err != nil {
				return err
			}
			s := session{c: c, request: client.Exec{Task: task, Command: slices.Clone(command), TTY: tty}, exec: func(ctx context.Context, e client.Exec) (int, error) {
				return r.cl.Allocations().Exec(ctx, a.ID, e)
			}}
			return s.run(r.ctx, interactive)
		},
	}
}

// A session is a command that runs in the environment of a task.
type session struct {
	c       *cli
	request client.Exec
	exec    func(context.Context, client.Exec) (int, error) // runs the request
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
	code, err := s.exec(ctx, s.request)
	if err != nil {
		return err
	}
	if code != exitOK {
		return exitWith(code)
	}
	return nil
}
