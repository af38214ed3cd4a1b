// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/demo"
	"github.com/reeve-run/reeve/internal/uilink"
)

// demoPrefix begins the names of the temporary data directories of demos.
const demoPrefix = "reeve-demo-"

func demoCommand(c *cli) *command {
	var set demoFlags
	return &command{
		use:   "demo",
		short: "Run a shop on this machine, with something to explore and to repair",
		long: `Start a server and a node in this process, on loopback, and run a shop on them:
services that call each other, with traffic, logs and a few errors. A canary
waits for you, a job crashes, another one has no place, traffic shifts between
two versions, and a restart is paused. When everything runs, the command prints
the commands that resolve each of these.

Use other commands in another terminal. Ctrl-C stops all tasks and exits. The
state is in a temporary directory, unless -data-dir names one: then the next
demo with the directory continues.`,
		example:   "reeve demo\nreeve demo -port 4747 -simulated-nodes 100",
		exitCodes: "0  Ctrl-C, SIGTERM or SIGHUP ended the command, and every task has ended\n1  the start failed; stderr has the reason",
		flags:     set.addTo,
		offline:   true,
		run:       func(r *call) error { return c.demo(r.ctx, &set) },
	}
}

// demoFlags holds the flags of "demo".
type demoFlags struct {
	port      int
	dataDir   string
	simulated int
}

// maxSimulated bounds the simulated nodes: "reeve sim" runs larger fleets.
const maxSimulated = 1000

func (d *demoFlags) addTo(f *pflag.FlagSet) {
	f.IntVar(&d.port, "port", 4646, "serve the API and the web UI on `PORT` of loopback; 0 chooses a free port")
	f.StringVar(&d.dataDir, "data-dir", "", "keep the state in `DIR`: an empty directory, or that of an earlier demo")
	f.IntVar(&d.simulated, "simulated-nodes", 12, "add `N` simulated nodes in three zones, which run no processes")
}

func (d *demoFlags) check() error {
	if d.port < 0 || d.port > 65535 {
		return usagef("-port %d is not a port: name one from 0 to 65535", d.port)
	}
	if d.simulated < 0 || d.simulated > maxSimulated {
		return usagef("-simulated-nodes %d is not between 0 and %d: \"reeve sim\" simulates larger fleets", d.simulated, maxSimulated)
	}
	return nil
}

// demo runs an agent with the shop until ctx ends.
func (c *cli) demo(ctx context.Context, set *demoFlags) error {
	if err := set.check(); err != nil {
		return err
	}
	// A closed terminal must not leave tasks behind: its signal ends the demo, and writing to a
	// closed pipe fails instead of ending the process.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)

	config := agent.DevConfig()
	config.LogLevel = "error"
	if set.dataDir != "" {
		dir, err := filepath.Abs(set.dataDir)
		if err != nil {
			return fmt.Errorf("-data-dir %s: %w", set.dataDir, err)
		}
		config.DataDir = dir
	}
	config.HTTPAddr = net.JoinHostPort("127.0.0.1", strconv.Itoa(set.port))
	config.Client.Meta = map[string]string{"zone": "a"}
	if err := portIsFree(config.HTTPAddr); err != nil {
		return err
	}
	c.removeLeftDemos(ctx)
	return c.devAgent(ctx, config, demoPrefix, nil, func(ctx context.Context, cl *client.Client, a *agent.Agent) error {
		return c.demoSession(ctx, cl.WithNamespace(api.DefaultNamespace), a, set)
	})
}

// portIsFree returns an error if an address is in use. The agent's own error names other flags.
func portIsFree(address string) error {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		_, port, _ := net.SplitHostPort(address)
		return fmt.Errorf("port %s is in use, probably by an agent or another demo: stop it, or choose another port with: reeve demo -port 4747", port)
	}
	return fmt.Errorf("%w; choose another port with: reeve demo -port 4747", err)
}

// leftTimeout limits the removal of what one killed demo left behind.
const leftTimeout = 10 * time.Second

// removeLeftDemos stops the tasks of demos that were killed, which would occupy ports and
// processors, and removes their directories. It removes only directories of this user.
func (c *cli) removeLeftDemos(ctx context.Context) {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), demoPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Getuid()) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "supervisor")); err != nil {
			continue // a demo that starts now
		}
		stopping, cancel := context.WithTimeout(ctx, leftTimeout)
		err = agent.StopLeftTasks(stopping, dir)
		cancel()
		switch {
		case api.CodeOf(err) == api.CodeUnavailable: // it runs
		case err != nil:
			fmt.Fprintf(c.Stderr, "An earlier demo in %s was killed, and its tasks cannot be stopped: %v\n", dir, err)
		default:
			os.RemoveAll(dir)
			fmt.Fprintf(c.Stderr, "Stopped the tasks of an earlier demo that was killed, and removed %s.\n", dir)
		}
	}
}

// demoSession fills the agent, and sends traffic until ctx ends.
func (c *cli) demoSession(ctx context.Context, cl *client.Client, a *agent.Agent, set *demoFlags) error {
	v := c.newDevView(cl)
	defer v.out.Done()
	if err := v.waitForNode(ctx); err != nil {
		return err
	}
	v.out.Say("Reeve runs at %s.", v.style.Bold(cl.Address()))
	f := &demo.Filler{Client: cl, Router: a.RouterAddr(), Simulated: set.simulated, Say: v.out.Say}
	isFilled, err := f.IsFilled(ctx)
	if err != nil {
		return fmt.Errorf("data directory %s: %w", a.DataDir(), err)
	}
	files := filepath.Join(a.DataDir(), "jobs")
	if err := demo.WriteFiles(files); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var living sync.WaitGroup
	defer living.Wait()
	defer stop()
	if err := c.simulate(ctx, &living, v, a, set.simulated); err != nil {
		return err
	}
	living.Go(func() { demo.Visit(ctx, a.RouterAddr()) })
	v.out.Show("Starting the shop; this takes less than a minute.")
	fill, began := f.Fill, c.Now()
	if isFilled {
		fill = f.Resume
	}
	err = fill(ctx)
	v.out.Done()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		v.out.Say("%s\n%v", v.style.Yellow("Some parts of the shop are missing:"), c.explain(err))
	default:
		v.out.Say("%s after %s.", v.style.Green("The shop is complete"), c.Now().Sub(began).Round(time.Second))
	}
	if err := c.demoTour(ctx, cl, a.RouterAddr(), files); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// simulate adds simulated nodes, and returns when they are registered. They live until ctx ends.
func (c *cli) simulate(ctx context.Context, living *sync.WaitGroup, v *devView, a *agent.Agent, nodes int) error {
	if nodes == 0 {
		return nil
	}
	registered, failed := make(chan struct{}), make(chan error, 1)
	living.Go(func() {
		failed <- demo.Simulate(ctx, "http://"+a.Addr(), a.Token(), nodes, func() { close(registered) })
	})
	select {
	case <-registered:
		v.out.Say("Simulated nodes: %d, in three zones.", nodes)
		return nil
	case err := <-failed:
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("simulate nodes: %w", err)
	}
}

// demoTour prints what to see in the shop, and where.
func (c *cli) demoTour(ctx context.Context, cl *client.Client, router, files string) error {
	sights, err := demo.Sights(ctx, cl, files)
	if err != nil {
		return err
	}
	reeve := reeveCommand()
	style := c.stdoutStyle()
	_, port, _ := net.SplitHostPort(router)
	fmt.Fprintf(c.Stdout, "\nThe shop:    %s\n", style.Bold("http://shop.localhost:"+port+"/"))
	fmt.Fprintf(c.Stdout, "The web UI:  %s\n", style.Bold(cl.Address()+uilink.Root))
	fmt.Fprintf(c.Stdout, "Job files:   %s\n\nIn another terminal:\n", files)
	if c.needsAddress(cl.Address()) {
		fmt.Fprintf(c.Stdout, "  %s\n", style.Cyan("export REEVE_ADDR="+cl.Address()))
	}
	fmt.Fprintf(c.Stdout, "  %s\n\nResolve these:\n", style.Cyan(reeve+" job status"))
	for _, s := range sights {
		fmt.Fprintf(c.Stdout, "  %-12s %s\n  %-12s %s\n", s.Job, s.State, "", style.Cyan(reeve+" "+s.Command))
	}
	fmt.Fprintln(c.Stdout, "\nPress Ctrl-C to stop the shop.")
	return nil
}

// reeveCommand returns how a shell in this directory finds this program.
func reeveCommand() string {
	self, err := os.Executable()
	if err != nil {
		return "reeve"
	}
	if found, err := exec.LookPath("reeve"); err == nil {
		if resolved, err := filepath.EvalSymlinks(found); err == nil && resolved == self {
			return "reeve"
		}
	}
	return self
}

// needsAddress reports whether commands without a flag reach another address.
func (c *cli) needsAddress(address string) bool {
	plain := &cli{Process: c.Process}
	config, err := plain.clientConfig()
	if err != nil || config.Address == "" {
		return err != nil || address != "http://"+agent.DefaultHTTPAddr
	}
	return config.Address != address
}
