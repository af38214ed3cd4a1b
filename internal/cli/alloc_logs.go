// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// defaultTailLines is the number of lines of -tail without -n and -c.
const defaultTailLines = 10

func allocLogsCommand(c *cli) *command {
	var (
		to         target
		onlyStdout bool
		onlyStderr bool
		follow     bool
		tail       tailing
	)
	return &command{
		use:   "logs ALLOC [TASK]",
		short: "Print the output of a task",
		long: `Print the output of a task, oldest first: its stdout, or its stderr with
-stderr. With -f, follow stdout and stderr until the task ends, each to the same
stream of this command; -stdout or -stderr follows only one.

With -job, print the output of all running instances of the job, or of the ended
ones if no instance runs. If there are several, each line starts with its
instance.`,
		example: `reeve alloc logs 3f2a
reeve alloc logs -f -n 20 3f2a server
reeve alloc logs -stderr -job web
reeve alloc logs -f -job web server`,
		flags: func(f *pflag.FlagSet) {
			to.addTo(f)
			f.BoolVar(&onlyStdout, "stdout", false, "print stdout (the default)")
			f.BoolVar(&onlyStderr, "stderr", false, "print stderr")
			f.BoolVarP(&follow, "follow", "f", false, "follow the output until the task ends")
			tail.addTo(f)
			f.Bool("verbose", false, "accepted for compatibility")
		},
		ownArgs: true, // -job takes the place of ALLOC
		run: func(r *call) error {
			tail.given = r.flags.Changed("n") || r.flags.Changed("c")
			l := &logs{
				c: c, cl: r.cl, follow: follow, tail: tail, stdout: c.Stdout, stderr: c.Stderr,
				both: follow && !onlyStdout && !onlyStderr, kind: api.LogStdout,
			}
			if onlyStderr {
				l.kind = api.LogStderr
			}
			if to.job != "" {
				return l.ofJob(r.ctx, to, r.args)
			}
			a, rest, err := to.find(r.ctx, c, r.cl, r.args, true)
			if err != nil {
				return err
			}
			return l.of(r.ctx, a, cmp.Or(append([]string{to.task}, rest...)...))
		},
	}
}

// logs prints the output of tasks.
type logs struct {
	c      *cli
	cl     *client.Client
	alloc  string
	task   string
	follow bool
	tail   tailing
	stdout io.Writer
	stderr io.Writer
	kind   string // stream that is written to stdout
	both   bool   // stderr is also written, to stderr
}

// of prints the output of a task of an allocation; "" selects the only task.
func (l *logs) of(ctx context.Context, a *api.Allocation, task string) error {
	var err error
	if l.task, err = chooseTask(a, task); err != nil {
		return err
	}
	l.alloc = a.ID
	if l.follow {
		l.cl = l.c.patient(l.cl, l.c.tell)
	}
	return l.show(ctx)
}

func (l *logs) show(ctx context.Context) error {
	if !l.both {
		return l.write(ctx, l.kind, l.stdout)
	}
	errs := make(chan error, 1)
	go func() { errs <- l.write(ctx, api.LogStderr, l.stderr) }()
	err := l.write(ctx, api.LogStdout, l.stdout)
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
