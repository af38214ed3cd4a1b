// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// publishingJob is a job in the form that most jobs for Docker have: a port with to in a network without
// a mode, which the task publishes. A task of another driver is beside it.
func publishingJob(image string) *api.Job {
	job := dockerJob("cache", image, "serve 80")
	g := job.Groups[0]
	g.Count = ptr(3)
	g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http", To: 80}, {Label: "spare", To: 81}}}}
	g.Services = []*api.Service{{Name: "cache", PortLabel: "http", Provider: "nomad", Checks: []*api.Check{{Type: "http", Path: "/", Interval: time.Second, Timeout: time.Second}}}}
	g.Tasks[0].Config["ports"] = []any{"http"}
	g.Tasks = append(g.Tasks, &api.Task{Name: "beside", Driver: "raw_exec", Config: map[string]any{"command": "/bin/sleep", "args": []string{"3600"}}, Resources: g.Tasks[0].Resources, Logs: g.Tasks[0].Logs})
	return job
}

// reaches waits until the ports of the node lead to the instances.
func (m *machine) reaches(ids []string, ports map[string]int) {
	m.t.Helper()
	for _, id := range ids {
		m.eventually("the node reaches the instance", func(ctx context.Context) error {
			text, err := greeting(ctx, "", "127.0.0.1:"+strconv.Itoa(ports[id]))
			if err == nil && text != "served\n" {
				err = fmt.Errorf("it says %q", text)
			}
			return err
		})
	}
}

// Three instances with one fixed port run on a node, without a daemon and without a mode of the group's
// network. Their ports survive the agent.
func TestDockerPortsWithoutABridgeOfTheJob(t *testing.T) {
	if !alone(t) {
		return
	}
	m, image := containerMachine(t, nil)
	m.register(publishingJob(image))
	ids, ports := m.isUp("cache", 3)
	m.reaches(ids, ports)
	m.hasNetworks(3)
	a, _, err := m.Client.Allocations().Get(t.Context(), ids[0], nil)
	if err != nil || a.NetworkStatus == nil {
		t.Fatalf("network %+v, %v", a.NetworkStatus, err)
	}
	inside := a.NetworkStatus.Address
	m.inside(ids[0], map[string]string{
		"env NOMAD_PORT_http":       "NOMAD_PORT_http=80\n",
		"env NOMAD_HOST_PORT_http":  fmt.Sprintf("NOMAD_HOST_PORT_http=%d\n", ports[ids[0]]),
		"env NOMAD_ADDR_http":       fmt.Sprintf("NOMAD_ADDR_http=127.0.0.1:%d\n", ports[ids[0]]),
		"env NOMAD_ALLOC_ADDR_http": "NOMAD_ALLOC_ADDR_http=" + inside + ":80\n",
		"env NOMAD_ALLOC_IP_spare":  "",
		"dial tcp 127.0.0.1:80":     "",
		"ls /sys/class/net":         "eth0\nlo\n",
	})
	out := m.reeve("alloc", "exec", "-task", "beside", ids[0], "/bin/sh", "-c", "echo $NOMAD_ADDR_http; readlink /proc/self/ns/net")
	node, _ := os.Readlink("/proc/thread-self/ns/net")
	if want := fmt.Sprintf("127.0.0.1:%d\n%s\n", ports[ids[0]], node); out != want {
		t.Errorf("the task of another driver has %q, want %q", out, want)
	}
	m.eventually("the service's instances at the node's ports", func(context.Context) error {
		out := m.reeve("service", "info", "cache")
		for _, id := range ids {
			if !strings.Contains(out, fmt.Sprintf("127.0.0.1:%d", ports[id])) {
				return fmt.Errorf("the service: %s", out)
			}
		}
		return nil
	})
	m.Kill()
	m.reaches(ids, ports)
	m.start()
	m.waitReady()
	if again, _ := m.isUp("cache", 3); strings.Join(again, " ") != strings.Join(ids, " ") {
		t.Errorf("after a restart of the agent run %v, not %v", again, ids)
	}
	m.reaches(ids, ports)
	m.eventually("a command runs in the adopted container", func(ctx context.Context) error {
		_, err := m.tool(ctx, ids[0], "dial tcp 127.0.0.1:80")
		return err
	})
	m.leavesNothing("cache")
}

// A container in the node's network that could not listen on its port waits, and the obstacle has the
// remedy.
func TestDockerPortsBelow1024OfTheNode(t *testing.T) {
	if !alone(t) {
		return
	}
	m, image := containerMachine(t, nil)
	job := dockerJob("edge", image, "serve 80")
	job.Groups[0].Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "http", Value: 80}}}}
	job.Groups[0].Tasks[0].Config["network_mode"] = "host"
	m.register(job)
	m.eventually("the obstacle", func(context.Context) error {
		out, err := m.reeveCommand("", "job", "explain", "edge")
		if !strings.Contains(out, "sysctl -w net.ipv4.ip_unprivileged_port_start=80") {
			return fmt.Errorf("%s, %v", out, err)
		}
		return nil
	})
	delete(job.Groups[0].Tasks[0].Config, "network_mode")
	job.Groups[0].Tasks[0].Config["ports"] = []any{"http"}
	m.register(job)
	ids, ports := m.isUp("edge", 1)
	m.reaches(ids, ports)
	m.leavesNothing("edge")
}
