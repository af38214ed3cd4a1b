// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node"
	"github.com/reeve-run/reeve/internal/node/device"
	"github.com/reeve-run/reeve/internal/node/doctor"
	"github.com/reeve-run/reeve/internal/node/driver/docker"
)

// examinePatience bounds the trial of all drivers.
const examinePatience = 2 * time.Minute

// Examine gathers what doctor.Judge reads about this machine, as a node with the configuration sees
// it. It asks no server, and leaves nothing behind. The configuration need not be complete.
func Examine(ctx context.Context, config Config) (*doctor.Facts, error) {
	ctx, cancel := context.WithTimeout(ctx, examinePatience)
	defer cancel()
	if config.Name == "" {
		config.Name, _ = os.Hostname()
	}
	dir, err := filepath.Abs(cmp.Or(config.DataDir, DefaultDataDir))
	if err != nil {
		return nil, err
	}
	config.DataDir = dir
	f := &doctor.Facts{Root: os.Geteuid() == 0, Wanted: doctor.Wanted{
		DockerSocket: cmp.Or(config.Client.Docker.Socket, docker.DefaultSocket), DockerDaemon: config.Client.Docker.Mode == docker.Daemon,
		HostVolumes: slices.Sorted(maps.Keys(config.Client.HostVolumes)),
	}}
	for _, n := range config.Client.HostNetworks {
		f.Wanted.HostNetworks = append(f.Wanted.HostNetworks, n.Name)
	}
	for _, p := range device.Read(config.devices()).Problems {
		f.Specs = append(f.Specs, doctor.SpecProblem{File: p.File, Problem: p.Err.Error()})
	}
	f.System = doctor.Gather(ctx, dir, cmp.Or(config.Client.Container.Runtime, "runc"), f.Wanted.DockerSocket)
	if f.Node, err = describeNode(ctx, config); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f.NodeError = err.Error()
	}
	return f, nil
}

// describeNode tries all drivers with a supervisor of its own, beside that of a running agent.
func describeNode(ctx context.Context, config Config) (described *api.Node, err error) {
	dir, err := scratch(config.DataDir)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	config.Client.Container.ImageDir = "" // belongs to the agent
	a := &Agent{config: config, log: slog.New(slog.DiscardHandler)}
	a.names = newBridgeNames(a)
	c, err := a.nodeConfig(ctx, dir)
	if a.supervisor != nil {
		defer a.supervisor.Shutdown(context.WithoutCancel(ctx), time.Second)
	}
	if err != nil {
		return nil, err
	}
	return node.Examine(ctx, *c)
}

// scratch creates a directory on the file system of the data directory, if it exists and this user may
// write there: drivers depend on the file system.
func scratch(dataDir string) (string, error) {
	if dir, err := os.MkdirTemp(dataDir, "doctor-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "reeve-doctor-")
}
