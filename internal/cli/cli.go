// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line: one file per command. Commands talk to a
// cluster through package client, and read job files through package jobspec.
// Only "agent", "dev" and "demo" start servers and nodes, through package agent.
//
// Commands write results to stdout, and progress to stderr. Package view turns
// api objects into text, package plantree plans, and package term knows the
// terminal.
package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/internal/cli/contexts"
)

// A Process is the part of its process that the command line uses.
type Process struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Now    func() time.Time
}

// OS returns the real process of the program.
func OS() Process {
	return Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Now: time.Now,
	}
}

// Main runs the command in p.Args and returns the exit code.
func Main(ctx context.Context, p Process) int {
	c := &cli{Process: p}
	root := c.root()
	root.SetArgs(normaliseArgs(root, p.Args))
	cmd, err := root.ExecuteContextC(ctx)
	return c.finish(cmd, err)
}

// cli is one run of the program: its process, its global flags, and values derived from
// both.
type cli struct {
	Process
	flags    globalFlags
	ownToken string        // token of the agent in this process
	wait     time.Duration // time to wait for a lost server; set by connect

	used *contexts.Context // context of the connection, or nil; set by connect
	sent string            // token of requests; set by connect

	outdated func() bool // reports whether the context has other roots than the cluster; set by connect
}

// globalFlags holds the flags of every command.
type globalFlags struct {
	address    string
	namespace  string
	region     string
	tokenFile  string
	serverWait string // as typed
	noColor    bool
	forceColor bool
}

// root builds the tree of commands.
func (c *cli) root() *cobra.Command {
	root := c.build(&command{
		use:   "reeve",
		short: "Run jobs on a fleet of machines",
		long: `Reeve runs jobs on a fleet of machines, keeps them running, and removes unused
objects. One binary contains the server, the node agent and the command line.

Start with "reeve demo": it runs a shop on this machine that you can explore.
"reeve dev examples/web.hcl" runs a job file, and prints the addresses.`,
	})
	root.Version, root.SilenceErrors, root.SilenceUsage = thisBuild().String(), true, true
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print the version, like \"reeve version\"")
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	c.addGlobalFlags(root)
	c.addHelp(root)

	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start here"},
		&cobra.Group{ID: groupNouns, Title: "Inspect and change"},
		&cobra.Group{ID: groupMore, Title: "More"},
	)

	add(root, groupStart, c, demoCommand, devCommand, agentCommand, loginCommand, logoutCommand, uiCommand)
	add(root, groupNouns, c, jobCommand, planCommand, instanceCommand, allocCommand, nodeCommand, evalCommand, deploymentCommand, serviceCommand, routeCommand,
		scalingCommand, eventCommand, namespaceCommand, quotaCommand, volumeCommand, domainCommand, stackCommand, unitCommand, varCommand, keyringCommand, aclCommand, clusterCommand, serverCommand, operatorCommand, systemCommand, statusCommand, topCommand)
	add(root, groupMore, c, contextCommand, simCommand, versionCommand, exampleWebCommand, exampleStoreCommand, exampleShopCommand)
	for _, alias := range topLevelAliases(c) {
		root.AddCommand(alias)
	}
	root.SetHelpCommandGroupID(groupMore)
	root.SetCompletionCommandGroupID(groupMore)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(c.Args...)
	return root
}

// Groups of the first help page.
const (
	groupStart = "start"
	groupNouns = "nouns"
	groupMore  = "more"
)

// add builds commands and adds them to a parent, in a help group unless it is "".
func add(parent *cobra.Command, group string, c *cli, commands ...constructor) {
	for _, declare := range commands {
		cmd := c.build(declare(c))
		cmd.GroupID = group
		parent.AddCommand(cmd)
	}
}

// topLevelAliases returns the commands that also work without their noun.
func topLevelAliases(c *cli) []*cobra.Command {
	var aliases []*cobra.Command
	for _, declare := range []constructor{
		jobRunCommand, jobStopCommand, jobInitCommand, jobValidateCommand,
		jobInspectCommand, jobFmtCommand, allocLogsCommand, allocExecCommand, allocFSCommand, jobActionCommand,
	} {
		cmd := c.build(declare(c))
		cmd.Hidden = true
		aliases = append(aliases, cmd)
	}
	return aliases
}
