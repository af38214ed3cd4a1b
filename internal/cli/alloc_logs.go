// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// Without -n or -c, -tail shows this many lines.
const defaultTailLines = 10

func allocLogsCommand(c *cli) *cobra.Command {
	var (
		to     target
		stdout bool
		stderr bool
		follow bool
		tail   tailing
	)
	cmd := &cobra.Command{
		Use:   "logs ALLOC [TASK]",
		Short: "Print what a task wrote to stdout or stderr",
		Long: `Prints a task's output, oldest first: stdout, unless -stderr asks for stderr.
With -f it goes on until the task ends; then both are followed, each to its own
stream of this command, unless -stdout or -stderr chooses one.`,
		Example: `reeve alloc logs 3f2a
reeve alloc logs -f -n 20 3f2a server
reeve alloc logs -stderr -job web`,
		Args:              atMost(2, "ALLOC and TASK"),
		ValidArgsFunction: c.completeIDs(api.SearchAllocations),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			a, rest, err := to.find(cmd.Context(), c, cl, args, true)
			if err != nil {
				return err
			}
			named := to.task
			if named == "" && len(rest) > 0 {
				named = rest[0]
			}
			task, err := chooseTask(a, named)
			if err != nil {
				return err
			}
			tail.given = cmd.Flags().Changed("n") || cmd.Flags().Changed("c")
			l := logs{c: c, cl: cl, alloc: a.ID, task: task, follow: follow, tail: tail}
			if follow {
				l.cl = c.patient(cl, c.tell)
			}
			if follow && !stdout && !stderr {
				return l.both(cmd.Context())
			}
			if stderr {
				return l.write(cmd.Context(), api.LogStderr, c.Stdout)
			}
			return l.write(cmd.Context(), api.LogStdout, c.Stdout)
		},
	}
	to.addTo(cmd)
	f := cmd.Flags()
	f.BoolVar(&stdout, "stdout", false, "print stdout (the default)")
	f.BoolVar(&stderr, "stderr", false, "print stderr")
	f.BoolVarP(&follow, "follow", "f", false, "go on as more is written, until the task ends")
	tail.addTo(f)
	f.Bool("verbose", false, "accepted for compatibility")
	return cmd
}

// logs prints one task's output.
type logs struct {
	c      *cli
	cl     *client.Client
	alloc  string
	task   string
	follow bool
	tail   tailing
}

// both follows stdout and stderr, each to its own stream.
func (l *logs) both(ctx context.Context) error {
	errs := make(chan error, 1)
	go func() { errs <- l.write(ctx, api.LogStderr, l.c.Stderr) }()
	err := l.write(ctx, api.LogStdout, l.c.Stdout)
	return errors.Join(err, <-errs)
}

func (l *logs) write(ctx context.Context, kind string, w io.Writer) error {
	o := client.LogOptions{Task: l.task, Type: kind, Follow: l.follow}
	skip, err := l.tail.start(&o.Origin, &o.Offset, func(origin string, offset int64) ([]byte, error) {
		all := o
		all.Follow, all.Origin, all.Offset = false, origin, offset
		return collect(l.cl.FS().Logs(ctx, l.alloc, all))
	})
	if err != nil {
		return err
	}
	if l.follow {
		return l.followLog(ctx, o, w)
	}
	return writeFrames(l.cl.FS().Logs(ctx, l.alloc, o), skip, w)
}
