// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/uilink"
)

func devCommand(c *cli) *command {
	var (
		file jobFile
		set  agentFlags
	)
	return &command{
		use:   "dev [FILE...]",
		short: "Run a server, a node and jobs on this machine until Ctrl-C",
		long: `Start a server and a node in this process, on loopback, register the job files,
and show the state and addresses of every allocation. Use other commands in
another terminal.

Ctrl-C stops all tasks and exits. The state is in a temporary directory, unless
-data-dir names one.`,
		example: `reeve dev examples/web.hcl
reeve dev -var version=2 web.hcl worker.hcl`,
		exitCodes: "0  Ctrl-C or SIGTERM ended the command, and every task has ended\n1  the start failed, or a job file was rejected; stderr has the reason",
		complete:  completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addTo(f)
			set.addTo(f)
		},
		offline: true,
		run: func(r *call) error {
			file.strict = file.strict && len(r.args) == 1
			var jobs []*loaded
			for _, path := range r.args {
				in, err := file.load(c, path)
				if err != nil {
					return err
				}
				jobs = append(jobs, in)
			}
			config := agent.DevConfig()
			config.LogLevel = "warn"
			if err := set.apply(&config); err != nil {
				return err
			}
			return c.dev(r.ctx, config, jobs)
		},
	}
}

// dev runs an agent and its jobs until ctx ends.
func (c *cli) dev(ctx context.Context, config agent.Config, jobs []*loaded) error {
	return c.devAgent(ctx, config, "reeve-dev-", jobs, func(ctx context.Context, cl *client.Client, a *agent.Agent) error {
		return c.devRun(ctx, cl, a, jobs)
	})
}

// devAgent runs an agent and a session with it until ctx ends, and then stops the jobs and all tasks.
// Without a data directory, it uses a temporary one whose name begins with the prefix.
func (c *cli) devAgent(ctx context.Context, config agent.Config, prefix string, jobs []*loaded, session devSession) error {
	config.Version = version
	if config.DataDir == "" {
		dir, err := os.MkdirTemp("", prefix)
		if err != nil {
			return fmt.Errorf("create a data directory: %w; set TMPDIR to a directory that you may write to, or -data-dir", err)
		}
		defer os.RemoveAll(dir)
		config.DataDir = dir
	}
	a, err := agent.New(ctx, config)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- a.Run(run) }()

	c.flags.address, c.ownToken = "http://"+a.Addr(), a.Token()
	cl, err := c.connect()
	if err == nil {
		err = c.devSession(ctx, cl, a, session, ended)
	}
	if errors.Is(err, errAgentEnded) {
		return <-ended
	}
	return errors.Join(err, c.devEnd(run, cl, a, jobs, func() error {
		stop()
		return <-ended
	}))
}

// A devSession uses an agent of this process until ctx ends.
type devSession func(ctx context.Context, cl *client.Client, a *agent.Agent) error

// errAgentEnded reports that the agent ended by itself.
var errAgentEnded = errors.New("the agent ended")

// devSession runs a session until ctx or the agent ends.
func (c *cli) devSession(ctx context.Context, cl *client.Client, a *agent.Agent, session devSession, ended chan error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case err := <-ended:
			ended <- err
			cancel(errAgentEnded)
		case <-ctx.Done():
		}
	}()
	err := session(ctx, cl, a)
	cause := context.Cause(ctx)
	cancel(nil)
	<-watched
	switch {
	case errors.Is(cause, errAgentEnded):
		return errAgentEnded
	case errors.Is(err, context.Canceled):
		return nil
	}
	return err
}

func (c *cli) devRun(ctx context.Context, cl *client.Client, a *agent.Agent, jobs []*loaded) error {
	v := c.newDevView(cl)
	if err := v.waitForNode(ctx); err != nil {
		return err
	}
	v.out.Say("Reeve runs at %s.", v.style.Bold(cl.Address()))
	v.out.Say("The web UI is at %s.", v.style.Bold(cl.Address()+uilink.Root))
	v.sayRouter(ctx)
	if address, zone := a.DNS(); address != "" {
		v.out.Say("Services have DNS names such as web.default.svc.%s on the name server %s.", zone, v.style.Bold(address))
	}
	for _, in := range jobs {
		if err := v.register(ctx, in); err != nil {
			return err
		}
	}
	if len(jobs) == 0 {
		v.out.Say("No job files: \"reeve job run FILE\" registers one. Press Ctrl-C to end.")
	}
	return v.follow(ctx)
}

// devEnd stops the jobs in order, then all other tasks, then the agent.
func (c *cli) devEnd(ctx context.Context, cl *client.Client, a *agent.Agent, jobs []*loaded, stop func() error) error {
	fmt.Fprintln(c.Stderr, "\nStopping all tasks.")
	grace, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	started := time.Now()
	if cl != nil {
		for _, in := range jobs {
			err := c.devStop(grace, cl.WithNamespace(in.job.Namespace), in.job.ID)
			if err != nil && api.CodeOf(err) != api.CodeNotFound {
				fmt.Fprintf(c.Stderr, "Job %q: %v\n", in.job.ID, c.explain(err))
			}
		}
	}
	err := errors.Join(a.StopTasks(grace), stop())
	if err == nil {
		fmt.Fprintf(c.Stderr, "All tasks ended after %s.\n", time.Since(started).Round(time.Millisecond))
	}
	return err
}

func (c *cli) devStop(ctx context.Context, cl *client.Client, id string) error {
	resp, err := cl.Jobs().Deregister(ctx, id, client.DeregisterOptions{})
	if err != nil || resp.EvalID == "" {
		return err
	}
	m := c.monitor(cl, id, false)
	defer m.out.Done()
	return m.waitStopped(ctx)
}
