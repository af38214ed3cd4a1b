// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
	"github.com/reeve-run/reeve/internal/testbed/output"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

const dockerImage = "registry.invalid/tool:1"

// A dockerd is a Docker daemon of a test, with its own directories, socket and mount namespace.
type dockerd struct {
	t      *testing.T
	dir    string
	socket string
	parent *exec.Cmd // containerd, which outlives crashes of the daemon
	cmd    *exec.Cmd
	out    output.Text
	c      *engine.Client
}

func newDockerd(t *testing.T) *dockerd {
	t.Helper()
	dir, err := os.MkdirTemp("", "dockerd") // a short path: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	d := &dockerd{t: t, dir: dir, socket: filepath.Join(dir, "docker.sock")}
	d.c = engine.New(d.socket)
	t.Cleanup(d.clean)
	d.parent = exec.Command("unshare", "--mount", "--propagation", "slave", "containerd", "--log-level", "error",
		"--root", dir+"/containers", "--state", dir+"/state", "--address", d.containerd())
	d.parent.Stdout, d.parent.Stderr = &d.out, &d.out
	if err := d.parent.Start(); err != nil {
		t.Fatalf("start containerd: %v (apt-get install docker.io)", err)
	}
	wait.Until(t, "containerd listens", func() bool {
		_, err := os.Stat(d.containerd())
		return err == nil
	})
	d.start()
	i, err := containertest.Image(nil, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(dockerImage)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := tarball.Write(tag, i, &archive); err != nil {
		t.Fatal(err)
	}
	if err := d.c.Load(t.Context(), &archive); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *dockerd) cgroup() string { return "/reeve-" + filepath.Base(d.dir) }

func (d *dockerd) containerd() string { return d.dir + "/containerd.sock" }

// start starts the daemon in the mount namespace of containerd.
func (d *dockerd) start() {
	d.t.Helper()
	_ = os.Remove(filepath.Join(d.dir, "docker.pid"))
	d.cmd = exec.Command("nsenter", "--target", strconv.Itoa(d.parent.Process.Pid), "--mount", "dockerd", "--log-level", "error", "--containerd", d.containerd(), "--live-restore", "--iptables=false", "--ip-forward=false", "--ip-masq=false", "--bridge=none",
		"--data-root", d.dir+"/data", "--exec-root", d.dir+"/exec", "--pidfile", d.dir+"/docker.pid", "-H", "unix://"+d.socket, "--cgroup-parent", d.cgroup())
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.out
	if err := d.cmd.Start(); err != nil {
		d.t.Fatalf("start dockerd: %v (apt-get install docker.io)", err)
	}
	wait.Until(d.t, "dockerd answers", func() bool {
		_, err := d.c.Version(d.t.Context())
		return err == nil
	})
}

// kill ends the daemon as a crash does.
func (d *dockerd) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

func (d *dockerd) clean() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	list, err := d.c.List(ctx, "run.reeve.agent")
	for _, found := range list {
		err = errors.Join(err, d.c.Remove(ctx, found.ID))
	}
	for _, p := range []*exec.Cmd{d.cmd, d.parent} {
		if p != nil && p.Process != nil {
			_ = p.Process.Signal(syscall.SIGTERM)
			_ = p.Wait()
		}
	}
	d.killRest()
	if err != nil || d.t.Failed() {
		d.t.Logf("the daemon's containers: %v; its output:\n%s", err, d.out.String())
	}
	groups, _ := filepath.Glob("/sys/fs/cgroup/*" + d.cgroup())
	for _, dir := range append(groups, "/sys/fs/cgroup"+d.cgroup()) {
		_ = os.Remove(dir)
	}
	if err := os.RemoveAll(d.dir); err != nil {
		d.t.Error(err)
	}
}

// killRest kills what a failed test leaves of the daemon's processes and containers.
func (d *dockerd) killRest() {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		command, _ := os.ReadFile(e + "/cmdline")
		group, _ := os.ReadFile(e + "/cgroup")
		if pid, err := strconv.Atoi(filepath.Base(e)); err == nil && (bytes.Contains(command, []byte(d.dir+"/")) || bytes.Contains(group, []byte(d.cgroup()+"/"))) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// dockerMachine starts an agent whose docker tasks a daemon runs.
func dockerMachine(t *testing.T) (*machine, *dockerd) {
	t.Helper()
	d := newDockerd(t)
	m := unstarted(t)
	m.Args = []string{"-dev", "-config", writeConfig(t, fmt.Sprintf("client {\n  docker = \"daemon\"\n  docker_socket = %q\n}\n", d.socket))}
	m.start()
	m.waitReady()
	return m, d
}

func daemonJob(id, commands string) *api.Job {
	job := dockerJob(id, dockerImage, commands)
	job.Groups[0].Tasks[0].Config["network_mode"] = "host"
	return job
}

func (d *dockerd) containers() []engine.Listed {
	d.t.Helper()
	list, err := d.c.List(d.t.Context(), "run.reeve.agent")
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

// pid returns the process of the only container.
func (d *dockerd) pid() int {
	d.t.Helper()
	list := d.containers()
	if len(list) != 1 {
		d.t.Fatalf("the daemon has the containers %v, want one", list)
	}
	found, err := d.c.Inspect(d.t.Context(), list[0].ID)
	if err != nil || !found.State.Running {
		d.t.Fatalf("the container: %+v, %v", found, err)
	}
	return found.State.Pid
}

// A daemon's container serves, and survives a crash of the agent, of the daemon, and of both. Its
// output is neither lost nor repeated.
func TestDockerDaemonRunsATask(t *testing.T) {
	t.Parallel()
	m, d := dockerMachine(t)
	m.register(daemonJob("service", "echo first , error second , wait , exit 3"))
	alloc := m.allocations("service", "runs", running(1))[0].ID
	logged := func(want string) {
		t.Helper()
		m.eventually("the log", func(context.Context) error {
			if got := m.taskLog(alloc, "stdout") + m.taskLog(alloc, "stderr"); got != want {
				return fmt.Errorf("the log is %q, want %q", got, want)
			}
			return nil
		})
	}
	logged("first\nwaiting\nsecond\n")
	var out bytes.Buffer
	code, err := m.Client.Allocations().Exec(t.Context(), alloc, client.Exec{Task: "task", Command: []string{"/bin/tool", "env", "NOMAD_TASK_DIR", ",", "exit", "9"}, Stdout: &out})
	if err != nil || code != 9 || out.String() != "NOMAD_TASK_DIR=/local\n" {
		t.Errorf("a command in the container: %d, %v, %q", code, err, out.String())
	}
	pid := d.pid()
	for name, crash := range map[string]func(){
		"agent":  func() { m.Kill(); m.start(); m.waitReady() },
		"daemon": func() { d.kill(); d.start() },
		"both":   func() { d.kill(); m.Kill(); m.start(); d.start(); m.waitReady() },
	} {
		crash()
		if got := d.pid(); got != pid {
			t.Errorf("after a crash of %s, the container has process %d, not %d", name, got, pid)
		}
		m.allocations("service", "runs", running(1))
	}
	logged("first\nwaiting\nsecond\n")
	m.eventually("the agent has found the container, and signals it", func(ctx context.Context) error {
		return m.Client.Allocations().Signal(ctx, alloc, api.SignalAllocationRequest{Task: "task", Signal: "SIGUSR1"})
	})
	if _, err := m.Client.Jobs().Deregister(t.Context(), "service", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	m.eventually("no container", func(context.Context) error {
		if list := d.containers(); len(list) > 0 {
			return fmt.Errorf("there are %v", list)
		}
		return nil
	})
}

// A daemon takes volumes with labels, also on a node without SELinux, and one that a task only reads stays so.
func TestDockerLabelsVolumes(t *testing.T) {
	t.Parallel()
	m, _ := dockerMachine(t)
	v := m.createVolume("data", "")
	job := daemonJob("writer", "write /data/f written , try write /read/f lost , cat /read/f , exit 0")
	job.Type = api.JobTypeBatch
	job.Groups[0].Volumes = map[string]*api.VolumeRequest{"data": {Name: "data", Type: api.VolumeTypeHost, Source: "data"}}
	job.Groups[0].Tasks[0].VolumeMounts = []*api.VolumeMount{
		{Volume: "data", Destination: "/data", SELinuxLabel: "Z"}, {Volume: "data", Destination: "/read", SELinuxLabel: "z", ReadOnly: true},
	}
	m.register(job)
	m.holds(filepath.Join(v.HostPath, "f"), "written")
	alloc := m.allocations("writer", "has ended", func(list []*api.AllocationListStub) bool {
		return len(list) == 1 && list[0].ClientStatus == api.AllocClientComplete
	})[0].ID
	if got := m.taskLog(alloc, "stdout"); !strings.Contains(got, "read-only file system") || !strings.HasSuffix(got, "written") {
		t.Errorf("the task printed %q", got)
	}
}

// The daemon's reasons reach the user.
func TestDockerDaemonReportsEnds(t *testing.T) {
	t.Parallel()
	m, _ := dockerMachine(t)
	served := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(served.Close)
	pulled := strings.TrimPrefix(served.URL, "http://") + "/tool:1"
	tag, err := name.NewTag(pulled)
	if err != nil {
		t.Fatal(err)
	}
	i, err := containertest.Image(nil, runtime.GOARCH)
	if err == nil {
		err = remote.Write(tag, i)
	}
	if err != nil {
		t.Fatal(err)
	}
	failing := func(id string, change func(*api.Task)) string {
		t.Helper()
		job := batchOf(daemonJob(id, "exit 7"))
		change(job.Groups[0].Tasks[0])
		m.register(job)
		a, _, err := m.Client.Allocations().Get(t.Context(), m.allocations(id, "ends", finished)[0].ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		for _, e := range a.TaskStates["task"].Events {
			events = append(events, e.DisplayMessage)
		}
		return strings.Join(events, "\n")
	}
	for _, c := range []struct {
		id, want string
		change   func(*api.Task)
	}{
		{"code", "Exit Code: 7", func(*api.Task) {}},
		{"missing", "no such file", func(k *api.Task) { k.Config["entrypoint"] = []any{"/missing"} }},
		{"privileged", "set allow_privileged = true in client { container { } }", func(k *api.Task) { k.Config["privileged"] = true }},
		{"memory", "OOM", func(k *api.Task) { k.Config["args"] = []any{"eat", "200"} }},
		{"volume", "Exit Code: 4", func(k *api.Task) {
			k.Config["volumes"] = []any{"local/data:/data"}
			k.Config["args"] = strings.Fields("write /data/file text , cat /data/file , exit 4")
		}},
		{"pull", "Pulled " + pulled + "@sha256:", func(k *api.Task) { k.Config["image"] = pulled }},
		{"absent", "find the digest of " + pulled + "0: the Docker daemon: ", func(k *api.Task) { k.Config["image"] = pulled + "0" }},
		{"link", "mount local/", func(k *api.Task) { k.Config["volumes"] = []any{"local/../../../../../etc:/stolen"} }},
	} {
		if got := failing(c.id, c.change); !strings.Contains(got, c.want) {
			t.Errorf("%s: the events are\n%s\nwant %q", c.id, got, c.want)
		}
	}
}
