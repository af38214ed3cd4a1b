// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// dockerJob returns a service of driver docker whose container runs the tool.
func dockerJob(id, image, commands string) *api.Job {
	job := testbed.Job(id, "docker", 1, map[string]any{"image": image, "args": strings.Fields(commands)})
	job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(64)
	return job
}

// A job of driver docker runs on a node without a Docker daemon, survives the agent, and leaves
// nothing behind.
func TestDockerJobRunsByContainer(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	m.register(dockerJob("service", image, "echo first , wait , exit 3"))
	alloc := m.allocations("service", "runs", running(1))[0].ID
	m.eventually("the log", func(context.Context) error {
		if got := m.taskLog(alloc, "stdout"); got != "first\nwaiting\n" {
			return fmt.Errorf("the log is %q", got)
		}
		return nil
	})
	pid := m.containerPID(alloc)
	m.Kill()
	m.start()
	m.waitReady()
	if got := m.containerPID(alloc); got != pid {
		t.Errorf("the container has process %d after a restart of the agent, not %d", got, pid)
	}
	self, _, err := m.Client.Nodes().Get(t.Context(), m.allocations("service", "runs", running(1))[0].NodeID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := self.Drivers["docker"]; d == nil || !d.Healthy || !strings.HasPrefix(d.HealthDescription, "Healthy, by the driver container") || self.Attributes[api.NodeAttrDockerEngines] != "container" {
		t.Errorf("the node's driver: %+v", d)
	}
}

// A job that needs a daemon waits, and its obstacle names the field.
func TestDockerJobExplainsItsNeedOfADaemon(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	job := dockerJob("terminal", image, "wait")
	job.Groups[0].Tasks[0].Config["tty"] = true
	m.register(job)
	m.eventually("the obstacle", func(ctx context.Context) error {
		evals, _, err := m.Client.Jobs().Evaluations(ctx, "terminal", nil)
		if err != nil {
			return err
		}
		for _, e := range evals {
			for _, failed := range e.FailedGroups {
				if failed.ConstraintFiltered["driver docker: tty needs a Docker daemon"] == 1 {
					return nil
				}
			}
		}
		return errors.New("no evaluation names it")
	})
}

// The operator's gates of driver container hold for jobs of driver docker.
func TestDockerJobHasTheGatesOfTheNode(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	job := batchOf(dockerJob("privileged", image, "wait"))
	job.Groups[0].Tasks[0].Config["privileged"] = true
	m.register(job)
	list := m.allocations("privileged", "fails", finished)
	a, _, err := m.Client.Allocations().Get(t.Context(), list[0].ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, e := range a.TaskStates["task"].Events {
		events = append(events, e.DisplayMessage)
	}
	if !strings.Contains(strings.Join(events, "\n"), "set allow_privileged = true in client { container { } }") {
		t.Errorf("the events do not name the gate: %q", events)
	}
}

// A job of driver podman runs on a node without Podman.
func TestDockerNodeRunsAPodmanJob(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	job := dockerJob("podman", "docker://"+image, "echo first , wait")
	job.Groups[0].Tasks[0].Driver = "podman"
	job.Groups[0].Tasks[0].Config["tmpfs"] = []any{"/scratch"}
	m.register(job)
	alloc := m.allocations("podman", "runs", running(1))[0].ID
	m.eventually("the log", func(context.Context) error {
		if got := m.taskLog(alloc, "stdout"); got != "first\nwaiting\n" {
			return fmt.Errorf("the log is %q", got)
		}
		return nil
	})
}
