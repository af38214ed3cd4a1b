// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
)

// Labels of the daemon's containers.
const (
	labelAgent = "run.reeve.agent" // id of the agent that made the container
	labelTask  = "run.reeve.task"  // id of the run
	labelAlloc = "run.reeve.alloc_id"
	nomadAlloc = "com.hashicorp.nomad.alloc_id" // which tools of Nomad's users look for
)

type object = map[string]any

// description describes the container for the daemon. sources are the paths of the mounts of the
// config, in their order.
func description(t *driver.Task, c *api.ContainerConfig, sources []string, maxProcesses int64, agent string) (object, error) {
	ports, err := published(t, c)
	if err != nil {
		return nil, err
	}
	host, err := hostConfig(t, c, sources, maxProcesses)
	if err != nil {
		return nil, err
	}
	exposed, bindings := object{}, object{}
	for _, p := range ports {
		for _, protocol := range []string{"tcp", "udp"} {
			inside := strconv.Itoa(cmp.Or(p.To, p.Value)) + "/" + protocol
			exposed[inside] = object{}
			bindings[inside] = []object{{"HostIp": p.HostIP, "HostPort": strconv.Itoa(p.Value)}}
		}
	}
	host["PortBindings"] = bindings
	labels := maps.Clone(c.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelAgent], labels[labelTask], labels[labelAlloc], labels[nomadAlloc] = agent, t.ID, t.AllocID, t.AllocID
	o := object{
		"Image": c.Image, "Env": container.Variables(t.Env), "User": t.User, "WorkingDir": c.WorkDir, "Hostname": c.Hostname,
		"Labels": labels, "Tty": c.Daemon.TTY, "OpenStdin": c.Daemon.Interactive, "ExposedPorts": exposed, "HostConfig": host,
		"Healthcheck": object{"Test": []string{"NONE"}}, // checks belong to the job's services
	}
	if c.Entrypoint != nil {
		o["Entrypoint"] = c.Entrypoint
	}
	switch {
	case c.Command != "":
		o["Cmd"] = append([]string{c.Command}, c.Args...)
	case len(c.Args) > 0:
		o["Cmd"] = c.Args
	}
	if d := c.Daemon; d.IPv4 != "" || d.IPv6 != "" || d.MAC != "" || len(d.Aliases) > 0 {
		o["NetworkingConfig"] = object{"EndpointsConfig": object{cmp.Or(c.NetworkMode, "default"): object{
			"Aliases": d.Aliases, "MacAddress": d.MAC, "IPAMConfig": object{"IPv4Address": d.IPv4, "IPv6Address": d.IPv6},
		}}}
	}
	return o, nil
}

func hostConfig(t *driver.Task, c *api.ContainerConfig, sources []string, maxProcesses int64) (object, error) {
	mounts, err := mountsOf(t, c, sources)
	if err != nil {
		return nil, err
	}
	labelled, err := labelledMounts(t)
	if err != nil {
		return nil, err
	}
	r, d := t.Resources, c.Daemon
	hard := cmp.Or(r.MemoryMaxMB, r.MemoryMB)
	if c.MemoryHardMB > 0 {
		hard = c.MemoryHardMB
	}
	hard = max(hard, 0) << 20
	processes := max(maxProcesses, 0)
	if c.PidsLimit > 0 && (processes == 0 || c.PidsLimit < processes) {
		processes = c.PidsLimit
	}
	o := object{
		"Mounts": mounts, "Binds": labelled, "NetworkMode": cmp.Or(c.NetworkMode, "default"), "ExtraHosts": c.ExtraHosts, "Dns": c.DNSServers,
		"DnsSearch": c.DNSSearch, "DnsOptions": c.DNSOptions, "ReadonlyRootfs": c.ReadonlyRoot, "Init": c.Init, "ShmSize": c.ShmSize,
		"Privileged": c.Privileged, "SecurityOpt": security(c), "Devices": devices(t, c), "Ulimits": ulimits(c), "Sysctls": c.Sysctl,
		"PidMode": host(c.PIDHost), "UTSMode": host(c.UTSHost), "UsernsMode": host(c.UsersHost), "GroupAdd": c.GroupAdd,
		"IpcMode": "private", "CgroupnsMode": "private", "PidsLimit": processes, "OomScoreAdj": c.OOMScoreAdj,
		"Runtime": d.Runtime, "StorageOpt": d.StorageOpt, "VolumeDriver": d.VolumeDriver, "LogConfig": logging(t, c),
		"Memory": hard, "MemorySwap": hard, "CpuShares": max(r.CPUShares, 2), "CpusetCpus": r.Cores,
		"RestartPolicy": object{"Name": "no"},
	}
	if c.IPCHost {
		o["IpcMode"] = "host"
	}
	if c.CgroupHost {
		o["CgroupnsMode"] = "host"
	}
	if d.MemorySwap != 0 {
		o["MemorySwap"] = d.MemorySwap
	}
	if d.Swappiness != nil {
		o["MemorySwappiness"] = *d.Swappiness
	}
	if reserve := cmp.Or(c.MemoryReserve, r.MemoryMB<<20); reserve < hard {
		o["MemoryReservation"] = reserve
	}
	if speed := container.CoreMHz(); c.CPUHard && speed > 0 && r.CPUShares > 0 {
		period := cmp.Or(c.CPUPeriod, 100_000)
		o["CpuPeriod"], o["CpuQuota"] = period, max(r.CPUShares*period/speed, 1000)
	}
	if !c.Privileged {
		o["CapDrop"], o["CapAdd"] = []string{"ALL"}, capabilities(c)
	}
	return o, nil
}

func host(is bool) string {
	if is {
		return "host"
	}
	return ""
}

// capabilities returns those of the container's root.
func capabilities(c *api.ContainerConfig) []string {
	var all []string
	if !slices.Contains(c.CapDrop, "ALL") {
		all = container.DefaultCapabilities()
	}
	all = append(all, c.CapAdd...)
	all = slices.DeleteFunc(all, func(name string) bool { return slices.Contains(c.CapDrop, name) })
	slices.Sort(all)
	return slices.Compact(all)
}

func security(c *api.ContainerConfig) []string {
	options := slices.Clone(c.Daemon.SecurityOpt)
	if !c.NewPrivs {
		options = append(options, "no-new-privileges")
	}
	if c.NoSeccomp {
		options = append(options, "seccomp=unconfined")
	}
	return options
}

func devices(t *driver.Task, c *api.ContainerConfig) (list []object) {
	for _, d := range t.Devices {
		list = append(list, object{"PathOnHost": d.Source, "PathInContainer": d.Target, "CgroupPermissions": d.Permissions})
	}
	for _, d := range c.Devices {
		list = append(list, object{"PathOnHost": d.HostPath, "PathInContainer": d.ContainerPath, "CgroupPermissions": d.Permissions})
	}
	return list
}

func ulimits(c *api.ContainerConfig) (list []object) {
	number := func(n uint64) int64 {
		if n == math.MaxUint64 {
			return -1
		}
		return int64(n)
	}
	for _, l := range c.Ulimits {
		list = append(list, object{"Name": l.Name, "Soft": number(l.Soft), "Hard": number(l.Hard)})
	}
	return list
}

// logging returns the daemon's logging driver. Unless the job names one, the daemon keeps as much
// output as the task's log files, for times without an agent.
func logging(t *driver.Task, c *api.ContainerConfig) object {
	if c.Daemon.LogType != "" || len(c.Daemon.LogOptions) > 0 {
		return object{"Type": cmp.Or(c.Daemon.LogType, "json-file"), "Config": c.Daemon.LogOptions}
	}
	if t.Logs.Disabled {
		return object{"Type": "none"}
	}
	return object{"Type": "json-file", "Config": map[string]string{
		"max-file": strconv.Itoa(max(t.Logs.MaxFiles, 2)), "max-size": strconv.FormatInt(cmp.Or(t.Logs.MaxFileBytes, 10<<20), 10),
	}}
}
