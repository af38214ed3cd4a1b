// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
	"github.com/reeve-run/reeve/internal/node/supervise/step"
)

// A plan collects what decides about one container.
type plan struct {
	task    *driver.Task
	config  *api.ContainerConfig
	image   *imageRoot
	machine *machine
	limits  supervise.Limits
	user    user
	cgroup  string   // path of its control group
	ids     *oci.IDs // of its user namespace; nil: it has the host's users

	binds  []oci.Bind
	mounts []specs.Mount
}

// spec describes the container for the supervisor.
func (p *plan) spec() (*supervise.Spec, error) {
	config, err := p.oci()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	dir := filesDir(p.task.Dir)
	c := &oci.Spec{
		Runtime: p.machine.runtime, Stage: p.machine.stage, Root: p.machine.root, Config: text, Layers: p.image.layers,
		Upper: dir + "/upper", Work: dir + "/work", Binds: p.binds, IDs: p.ids,
	}
	if !p.config.ReadonlyRoot {
		c.Dirs = slices.Sorted(maps.Keys(p.image.config.Volumes))
	}
	return &supervise.Spec{
		ID: p.task.ID, Argv: config.Process.Args, Logs: p.task.Logs, Limits: p.limits, Container: c, Network: p.task.Namespace(),
	}, nil
}

// oci describes the container for the runtime.
func (p *plan) oci() (*specs.Spec, error) {
	process, err := p.process()
	if err != nil {
		return nil, err
	}
	s := &specs.Spec{
		Version: "1.0.2", Process: process, Hostname: p.hostname(),
		Root:        &specs.Root{Path: p.machine.root, Readonly: p.config.ReadonlyRoot},
		Annotations: p.config.Labels,
		Linux:       &specs.Linux{Sysctl: p.config.Sysctl, Namespaces: p.namespaces(), CgroupsPath: p.cgroup},
	}
	if p.config.UTSHost {
		s.Hostname = ""
	}
	if err := p.addDevices(s.Linux); err != nil {
		return nil, err
	}
	if err := p.addMounts(); err != nil {
		return nil, err
	}
	s.Mounts = p.mounts
	if p.limits.Cores != "" {
		s.Linux.Resources.CPU = &specs.LinuxCPU{Cpus: p.limits.Cores}
	}
	if !p.config.Privileged {
		s.Linux.MaskedPaths, s.Linux.ReadonlyPaths = maskedPaths, readOnlyPaths
	}
	if p.ids != nil {
		mapping := []specs.LinuxIDMapping{{ContainerID: 0, HostID: p.ids.First, Size: p.ids.Size}}
		s.Linux.UIDMappings, s.Linux.GIDMappings = mapping, mapping
	}
	s.Linux.Seccomp, err = filter(p.config, s)
	return s, err
}

func (p *plan) process() (*specs.Process, error) {
	argv, err := command(p.config, p.image.config)
	if err != nil {
		return nil, err
	}
	caps, err := capabilities(p.config, p.user, p.machine.caps)
	if err != nil {
		return nil, err
	}
	if p.ids != nil && (p.user.uid >= p.ids.Size || p.user.gid >= p.ids.Size || slices.ContainsFunc(p.user.groups, func(g uint32) bool { return g >= p.ids.Size })) {
		return nil, fmt.Errorf("user %d is not in the container's user namespace, which has %d users: use a smaller number, or set userns_mode = \"host\"", p.user.uid, p.ids.Size)
	}
	score := p.config.OOMScoreAdj
	if p.config.Init {
		argv = append([]string{initPath, step.Reap, "--"}, argv...)
	}
	env := environment(p.task.Env, p.image.config)
	if p.user.home != "" && !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "HOME=") }) {
		env = append(env, "HOME="+p.user.home)
	}
	process := &specs.Process{
		Args: argv, Env: env, Cwd: cmp.Or(p.config.WorkDir, p.image.config.WorkingDir, "/"), Capabilities: caps,
		User:            specs.User{UID: p.user.uid, GID: p.user.gid, AdditionalGids: p.user.groups},
		NoNewPrivileges: !p.config.NewPrivs && !p.config.Privileged, OOMScoreAdj: &score,
	}
	if !strings.HasPrefix(process.Cwd, "/") {
		process.Cwd = "/" + process.Cwd
	}
	for _, l := range p.config.Ulimits {
		if err := isolate.Ulimit(l).Check(p.machine.caps); err != nil {
			return nil, fmt.Errorf("config %w", err)
		}
		process.Rlimits = append(process.Rlimits, specs.POSIXRlimit{Type: "RLIMIT_" + strings.ToUpper(l.Name), Soft: l.Soft, Hard: l.Hard})
	}
	return process, nil
}

func (p *plan) namespaces() []specs.LinuxNamespace {
	all := []specs.LinuxNamespace{{Type: specs.MountNamespace}}
	add := func(set bool, kind specs.LinuxNamespaceType, path string) {
		if set {
			all = append(all, specs.LinuxNamespace{Type: kind, Path: path})
		}
	}
	c := p.config
	add(!c.PIDHost, specs.PIDNamespace, "")
	add(!c.IPCHost, specs.IPCNamespace, "")
	add(!c.UTSHost, specs.UTSNamespace, "")
	add(!c.CgroupHost, specs.CgroupNamespace, "")
	add(p.ids != nil, specs.UserNamespace, "")
	add(c.NetworkMode == "none", specs.NetworkNamespace, "")
	// The host owns the allocation's network, so that a command in the container (runc exec), which
	// enters the user namespace first, could not join it. The runtime itself starts in it instead.
	add(p.task.Network != nil && p.ids == nil, specs.NetworkNamespace, p.task.Namespace())
	return all
}

// hostname returns the container's name for itself. On the node's network it is the node's, so
// that programs find its address.
func (p *plan) hostname() string {
	if p.config.Hostname != "" {
		return p.config.Hostname
	}
	if n := p.task.Network; n != nil && n.Hostname != "" {
		return n.Hostname
	}
	name, _ := os.Hostname()
	return name
}
