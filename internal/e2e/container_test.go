// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/testbed"
)

// containerMachine starts an agent that permits an image layout with the test's program, and
// returns the layout's name for jobs.
func containerMachine(t *testing.T, change func(*v1.Config)) (*machine, string) {
	t.Helper()
	m, image := unstartedContainerMachine(t, change)
	m.start()
	m.waitReady()
	return m, image
}

func unstartedContainerMachine(t *testing.T, change func(*v1.Config)) (*machine, string) {
	t.Helper()
	m := unstarted(t)
	images := filepath.Join(m.Dir, "layouts")
	i, err := containertest.Image(change, runtime.GOARCH)
	if err == nil {
		err = containertest.WriteLayout(filepath.Join(images, "tool"), i)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Args = []string{"-dev", "-config", writeConfig(t, fmt.Sprintf("client {\n  container {\n    image_dir = %q\n  }\n}\n", images))}
	return m, "oci:" + filepath.Join(images, "tool")
}

// containerJob returns a service whose container runs the tool.
func containerJob(id, image string, count int, commands string) *api.Job {
	job := testbed.Job(id, "container", count, map[string]any{"image": image, "args": strings.Fields(commands)})
	job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(64)
	return job
}

// batchOf makes the job a batch job whose tasks run once.
func batchOf(job *api.Job) *api.Job {
	job.Type = api.JobTypeBatch
	job.Groups[0].Update = nil
	job.Groups[0].Restart = &api.Restart{Attempts: ptr(0), Mode: ptr("fail")}
	job.Groups[0].Reschedule = &api.Reschedule{Attempts: ptr(0), Unlimited: ptr(false)}
	return job
}

func finished(list []*api.AllocationListStub) bool {
	return len(list) == 1 && (list[0].ClientStatus == api.AllocClientComplete || list[0].ClientStatus == api.AllocClientFailed)
}

// taskPID returns the process id of the only task of an allocation.
func (m *machine) containerPID(alloc string) int {
	m.t.Helper()
	var pid int
	m.eventually("the task's process", func(context.Context) error {
		for _, p := range m.Processes() {
			if argv := testbed.CommandLine(p); len(argv) > 0 && argv[0] == containertest.ToolPath {
				pid = p
				return nil
			}
		}
		return errors.New("no process of the tool")
	})
	return pid
}

func (m *machine) taskLog(alloc, kind string) string {
	m.t.Helper()
	var b bytes.Buffer
	files, _ := filepath.Glob(filepath.Join(m.Dir, "node", "alloc", alloc, "alloc", "logs", "task."+kind+".*"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			m.t.Error(err)
		}
		b.Write(text)
	}
	return b.String()
}

// TestContainerHasAFirstProcess: with init, this program is the first process of the container, also after an upgrade has
// removed its file. Package container's own test cannot show it with the race detector, whose programs need libraries.
func TestContainerHasAFirstProcess(t *testing.T) {
	t.Parallel()
	m, image := unstartedContainerMachine(t, nil)
	m.Reeve = filepath.Join(t.TempDir(), "reeve")
	program, err := os.ReadFile(reeve)
	if err == nil {
		err = os.WriteFile(m.Reeve, program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.start()
	m.waitReady()
	for _, id := range []string{"installed", "removed", "again"} {
		job := batchOf(containerJob(id, image, 1, "orphan , try overwrite /proc/1/exe , grep reeve /proc/1/cmdline , exit 0"))
		job.Groups[0].Tasks[0].Config["init"] = true
		m.register(job)
		alloc := m.allocations(id, "ends", finished)[0]
		if got := m.taskLog(alloc.ID, "stdout"); alloc.ClientStatus != api.AllocClientComplete || !strings.Contains(got, "supervise-reap") || strings.Contains(got, ": done") {
			t.Errorf("%s: the allocation is %s, its output:\n%s\n%s", id, alloc.ClientStatus, got, m.taskLog(alloc.ID, "stderr"))
		}
		if err := os.Remove(m.Reeve); err != nil && id == "installed" {
			t.Fatal(err)
		}
	}
}

func TestContainerServesAndIsAdopted(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	m.register(containerJob("service", image, 1, "echo first , wait , exit 3"))
	alloc := m.allocations("service", "runs", running(1))[0].ID
	m.eventually("the log", func(context.Context) error {
		if got := m.taskLog(alloc, "stdout"); got != "first\nwaiting\n" {
			return fmt.Errorf("the log is %q", got)
		}
		return nil
	})
	var out bytes.Buffer
	code, err := m.Client.Allocations().Exec(t.Context(), alloc, client.Exec{Task: "task", Command: []string{"/bin/tool", "env", "NOMAD_TASK_DIR", ",", "exit", "9"}, Stdout: &out})
	if err != nil || code != 9 || out.String() != "NOMAD_TASK_DIR=/local\n" {
		t.Errorf("a command in the container: %d, %v, %q", code, err, out.String())
	}
	pid := m.containerPID(alloc)
	m.Kill()
	m.start()
	m.waitReady()
	if got := m.containerPID(alloc); got != pid {
		t.Errorf("the container has process %d after a restart of the agent, not %d", got, pid)
	}
	m.eventually("the adopted container takes a signal", func(ctx context.Context) error {
		return m.Client.Allocations().Signal(ctx, alloc, api.SignalAllocationRequest{Task: "task", Signal: "SIGUSR1"})
	})
	m.eventually("the exit", func(ctx context.Context) error {
		a, _, err := m.Client.Allocations().Get(ctx, alloc, nil)
		if err == nil && exitCode(a.TaskStates["task"]) != 3 {
			err = fmt.Errorf("task: %s", events(a.TaskStates["task"]))
		}
		return err
	})
	if got := m.taskLog(alloc, "stdout"); !strings.Contains(got, "received user defined signal 1\n") {
		t.Errorf("the log is %q", got)
	}
}

func TestContainerLeavesNothing(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	m.register(containerJob("service", image, 3, "orphan , sleep"))
	list := m.allocations("service", "run", running(3))
	if _, err := m.Client.Jobs().Deregister(t.Context(), "service", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	m.eventually("nothing is left", func(context.Context) error {
		var left []string
		for _, a := range list {
			left = append(left, m.remains(a.ID)...)
		}
		if len(left) > 0 {
			return fmt.Errorf("left: %s", strings.Join(left, ", "))
		}
		return nil
	})
}

// remains lists what exists of the containers of an allocation.
func (m *machine) remains(alloc string) (left []string) {
	for _, p := range m.Processes() {
		if argv := testbed.CommandLine(p); len(argv) > 0 && (argv[0] == containertest.ToolPath || argv[0] == "tool" || strings.Contains(argv[0], "runc")) {
			left = append(left, fmt.Sprint("process ", argv))
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	if strings.Contains(string(mounts), m.Dir+"/node/alloc") || strings.Contains(string(mounts), m.Dir+"/images") {
		left = append(left, "mounts")
	}
	for _, pattern := range []string{
		filepath.Join(m.Dir, "supervisor", "containers", "*"), filepath.Join(m.Dir, "node", "alloc", alloc, "*", "container"),
		"/sys/fs/cgroup/*/reeve/*/*" + alloc + "*", "/sys/fs/cgroup/reeve/*/*" + alloc + "*",
	} {
		found, _ := filepath.Glob(pattern)
		left = append(left, found...)
	}
	return left
}

func TestContainerEndsAreReported(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, func(c *v1.Config) { c.StopSignal = "SIGQUIT" })
	for name, test := range map[string]struct {
		commands string
		want     string
		memory   int
	}{
		"code":   {"exit 42", "Exit Code: 42", 64},
		"memory": {"eat 200", "out of memory", 32},
		"absent": {"", "command not found in the image", 64},
	} {
		job := batchOf(containerJob(name, image, 1, test.commands))
		job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(test.memory)
		if name == "absent" {
			job.Groups[0].Tasks[0].Config["entrypoint"] = []string{"/bin/missing"}
		}
		m.register(job)
		a := m.allocations(name, "ends", finished)[0]
		if got := events(a.TaskStates["task"]); !strings.Contains(got, test.want) {
			t.Errorf("%s: no %q in the events:%s", name, test.want, got)
		}
	}
	m.register(containerJob("stopped", image, 1, "wait"))
	alloc := m.allocations("stopped", "runs", running(1))[0].ID
	m.eventually("it waits", func(context.Context) error {
		if m.taskLog(alloc, "stdout") == "" {
			return errors.New("no output")
		}
		return nil
	})
	if _, err := m.Client.Jobs().Deregister(t.Context(), "stopped", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	m.eventually("the image's stop signal", func(context.Context) error {
		if got := m.taskLog(alloc, "stdout"); !strings.Contains(got, "received quit") {
			return fmt.Errorf("the log is %q", got)
		}
		return nil
	})
}

func TestContainerSurvivesNoKilledSupervisor(t *testing.T) {
	t.Parallel()
	m, image := containerMachine(t, nil)
	m.register(containerJob("service", image, 1, "sleep"))
	alloc := m.allocations("service", "runs", running(1))[0].ID
	pid := m.containerPID(alloc)
	if err := syscall.Kill(m.Supervisor(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.eventually("the container runs again", func(context.Context) error {
		if syscall.Kill(pid, 0) == nil {
			return fmt.Errorf("process %d of the lost container still exists", pid)
		}
		if again := m.containerPID(alloc); again == pid {
			return errors.New("it has the same process")
		}
		dirs, _ := filepath.Glob(filepath.Join(m.Dir, "supervisor", "containers", "*"))
		if len(dirs) != 1 {
			return fmt.Errorf("directories of the runtime: %v", dirs)
		}
		return nil
	})
}
