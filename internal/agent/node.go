// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/driver/java"
	"github.com/reeve-run/reeve/internal/node/driver/mock"
	"github.com/reeve-run/reeve/internal/node/driver/podman"
	"github.com/reeve-run/reeve/internal/node/driver/qemu"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// supervisorTimeout bounds the wait for the supervisor: a new one answers within
// milliseconds, one that is being replaced a little later.
const supervisorTimeout = 10 * time.Second

// newNode prepares the node.
func (a *Agent) newNode() (*node.Node, error) {
	ctx, cancel := context.WithTimeout(context.Background(), supervisorTimeout)
	defer cancel()
	config, err := a.nodeConfig(ctx, a.config.DataDir)
	if err != nil {
		return nil, err
	}
	if err := a.containers.Retain(ctx); err != nil {
		return nil, err
	}
	config.HTTPAddr, config.Servers = cmp.Or(a.advertise, a.Addr()), a.nodeServers()
	config.Data, config.Ended = dataFrom(a.client), endOf(a.client)
	return node.New(*config)
}

// nodeConfig connects to the supervisor of a directory, which it starts if necessary, and returns the
// configuration of the node. Drivers have their files in the directory.
func (a *Agent) nodeConfig(ctx context.Context, dir string) (*node.Config, error) {
	var err error
	a.supervisor, err = supervise.Connect(ctx, supervise.Config{Dir: filepath.Join(dir, "supervisor"), Logger: a.log})
	if err != nil {
		return nil, err
	}
	bridge, err := a.bridge()
	if err != nil {
		return nil, err
	}
	mocked := mock.New()
	c := a.config.Client
	isolated := exec.New(a.supervisor, exec.Config{Users: c.ExecUsers})
	a.containers = container.New(a.supervisor, filepath.Join(dir, "images"), c.Container, a.log)
	config := node.Config{
		DataDir: filepath.Join(a.config.DataDir, "node"), Name: a.config.Name, Datacenter: a.config.Datacenter,
		Pool: c.NodePool, Class: c.NodeClass, Meta: c.Meta, Version: a.config.Version,
		ReservedCPU: c.Reserved.CPU.CPUShares, ReservedMB: c.Reserved.Memory.MemoryMB, ReservedDisk: c.Reserved.Disk.DiskMB,
		ReservedPorts: c.Reserved.Networks.ReservedHostPorts, KeepEnded: c.MaxAllocsKept,
		ReservedCores: c.ReservedCores, Devices: a.config.devices(), HostNetworks: c.HostNetworks, Bridge: bridge, HostVolumes: c.HostVolumes, Artifacts: c.Artifact, PluginDir: c.PluginDir, ReadVariable: a.readVariable,
		VolumesDir: cmp.Or(c.VolumesDir, filepath.Join(a.config.DataDir, "host_volumes")), VolumePlugins: cmp.Or(c.VolumePlugins, filepath.Join(a.config.DataDir, "host_volume_plugins")),
		ServeTask: a.serveTask,
		Drivers: map[string]driver.Driver{
			"raw_exec":    rawexec.NewGated(a.supervisor, c.RawExec),
			"exec":        isolated,
			"java":        java.New(isolated),
			"qemu":        qemu.New(isolated),
			"container":   a.containers,
			"mock":        mocked,
			"mock_driver": mocked,
		},
		Images: a.containers, Keeper: a.supervisor, Logger: a.log, Traffic: taskenv.Traffic{Router: localRouter(a.RouterAddr()), Zone: strings.ToLower(strings.TrimSuffix(a.config.DNS.Zone, "."))},
	}
	if c.Docker.Mode != docker.Off {
		c.Docker.Dir = filepath.Join(dir, "docker")
		a.docker = docker.New(a.containers, c.Docker, a.log)
		config.Drivers[api.DriverDocker], config.Drivers[api.DriverPodman] = a.docker, podman.New(a.docker)
	}
	if a.trust != nil {
		m, _ := a.trust.Member()
		config.ID = m.ID
		config.Member, _, _ = net.SplitHostPort(a.advertise)
	}
	if a.config.Dev {
		config.Address = "127.0.0.1" // reachable for a user at this machine
	}
	return &config, nil
}

// localRouter returns the address at which tasks of the machine reach a router: loopback
// if it listens on all addresses.
func localRouter(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// StopTasks stops every task of the node and its supervisor. Call it while Run runs.
func (a *Agent) StopTasks(ctx context.Context) error {
	if a.node == nil {
		return nil
	}
	return errors.Join(a.node.StopAll(ctx), a.supervisor.Shutdown(ctx, time.Second))
}
