// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/agent"
)

func agentCommand(c *cli) *command {
	var (
		files []string
		dev   bool
		set   agentFlags
	)
	return &command{
		use:   "agent",
		short: "Run an agent: a server, a node, or both",
		long: `Run an agent until it receives SIGINT or SIGTERM. The agent reads configuration
files in order, then the flags; later values override earlier ones.

Tasks outlive the agent: they continue to run after it ends or is killed, and
the next agent with the same data directory takes them over. Only an agent with
-dev and without -data-dir stops its tasks and deletes its directory, because no
other agent could find them.`,
		example: `reeve agent -dev
reeve agent -server -bootstrap
reeve agent -server -join 10.0.0.1 -join-token-file /run/secrets/join
REEVE_JOIN_TOKEN=... reeve agent -join 10.0.0.1
reeve agent -config /etc/reeve.d`,
		exitCodes: "0  a signal ended the agent\n1  the agent could not start, or failed; stderr has the reason",
		flags: func(f *pflag.FlagSet) {
			f.StringArrayVar(&files, "config", nil, "read `PATH`, a file or a directory of *.hcl and *.json; repeatable")
			f.BoolVar(&dev, "dev", false, "run a server and a node in one process, on loopback")
			set.addTo(f)
		},
		offline: true,
		run: func(r *call) error {
			config, err := agent.LoadConfig(files)
			if err != nil {
				return err
			}
			if dev {
				config = devOver(config)
			}
			if err := set.apply(&config); err != nil {
				return err
			}
			if config.JoinToken == "" {
				config.JoinToken = c.Getenv("REEVE_JOIN_TOKEN")
			}
			if config.JoinToken == "" && config.JoinTokenFile == "" {
				config.JoinTokenFile = credentialFile(c.Getenv)
			}
			return c.runAgent(r.ctx, config)
		},
	}
}

// credential is the name of systemd's credential with the join token.
const credential = "reeve.join-token"

// credentialFile returns the path of that credential, or "" if systemd has passed none to the
// agent. Only the service can read it.
func credentialFile(getenv func(string) string) string {
	dir := getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return ""
	}
	path := filepath.Join(dir, credential)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// devOver returns the configuration of -dev, overridden by the configuration files.
func devOver(c agent.Config) agent.Config {
	dev := agent.DevConfig()
	c.Dev, c.Server.Enabled, c.Client.Enabled = true, true, true
	c.HTTPAddr = cmp.Or(c.HTTPAddr, dev.HTTPAddr)
	c.LogLevel = cmp.Or(c.LogLevel, dev.LogLevel)
	return c
}

// stopTimeout limits the time in which an ending agent stops its tasks.
const stopTimeout = 30 * time.Second

// runAgent runs an agent until ctx ends.
func (c *cli) runAgent(ctx context.Context, config agent.Config) error {
	config.Version, config.Founded = version, c.welcome
	throwaway := config.Dev && config.DataDir == ""
	if throwaway {
		dir, err := os.MkdirTemp("", "reeve-dev-")
		if err != nil {
			return fmt.Errorf("create a data directory: %w", err)
		}
		defer os.RemoveAll(dir)
		config.DataDir = dir
	}
	a, err := agent.New(ctx, config)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	if !throwaway {
		return unlessEnded(ctx, a.Run(ctx))
	}
	return runThrowaway(ctx, a)
}

// unlessEnded returns the error of an agent, except that a signal ended it while it waited: to
// join, or for a leader.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// runThrowaway runs an agent until ctx ends, and then stops its tasks before the agent.
func runThrowaway(ctx context.Context, a *agent.Agent) error {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- a.Run(run) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(run, stopTimeout)
	defer cancel()
	err := a.StopTasks(grace)
	stop()
	return errors.Join(err, <-ended)
}

// splitPair reads NAME=VALUE.
func splitPair(flag, text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "", usagef("-%s %q is not NAME=VALUE", flag, text)
	}
	return name, value, nil
}
