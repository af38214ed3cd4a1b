// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/jobspec"
)

// in has the machine's troubles fail a part of its test.
func (m *machine) in(t *testing.T) *machine { return &machine{m.Machine, t} }

// runText registers a job file. What crashes in it is tried again at once, if at
// all, and never elsewhere.
func (m *machine) runText(text string) {
	m.t.Helper()
	text = strings.Replace(text, "{", `{
		reschedule {
			attempts  = 0
			unlimited = false
		}
		update {
			min_healthy_time = "0s"
		}
	`, 1)
	if !strings.Contains(text, "restart {") {
		text = regexp.MustCompile(`(group "g"|task "t") {`).ReplaceAllString(text, `$1 {
			restart {
				attempts  = 9
				immediate = 9
				delay     = "1s"
			}
		`)
	}
	text = strings.NewReplacer("shell(", `
		driver = "raw_exec"
		resources {
			memory = 10
			cpu    = 1
		}
		logs {
			disabled = true
		}
		config {
			command = "/bin/sh"
			args    = ["-c", `, ")shell", "]\n}\n", "} }", "}\n}").Replace(text)
	job, err := jobspec.Parse(jobspec.Source{Name: "job.hcl", Text: []byte(text)}, jobspec.Options{})
	if err != nil {
		m.t.Fatalf("%v in:\n%s", err, text)
	}
	m.register(job)
}

// instance waits until the first instance of a job is as told.
func (m *machine) instance(job, what string, is func(*api.Instance) bool) *api.Instance {
	m.t.Helper()
	var found *api.Instance
	m.eventually(job+": "+what, func(ctx context.Context) error {
		list, _, err := m.Client.Instances().All(ctx, client.InstancesFilter{Job: job}, nil)
		if err != nil {
			return err
		}
		if len(list) == 1 && is(list[0]) {
			found = list[0]
			return nil
		}
		var is strings.Builder
		for _, in := range list {
			fmt.Fprintf(&is, "%s routable %t, %d crashes: %s; %s ", in.State, in.Routable, in.CrashCount, in.CrashReason, in.Message)
		}
		return fmt.Errorf("it is %s", is.String())
	})
	return found
}

func serves(in *api.Instance) bool { return in.State == api.InstanceRunning && in.Routable }

func crashedBy(why ...string) func(*api.Instance) bool {
	return func(in *api.Instance) bool {
		for _, part := range why {
			if !strings.Contains(in.CrashReason, part) {
				return false
			}
		}
		return in.CrashCount > 0
	}
}

// data is a file in the directory that the tasks of an instance share.
func (m *machine) data(in *api.Instance, name string) string {
	m.t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(m.Dir, "*", "alloc", in.Allocation, "alloc", "data"))
	if len(dirs) != 1 {
		m.t.Fatalf("allocation %s has the directories %v", in.Allocation, dirs)
	}
	return filepath.Join(dirs[0], name)
}

func (m *machine) write(in *api.Instance, name string) {
	m.t.Helper()
	if err := os.WriteFile(m.data(in, name), []byte("1"), 0o666); err != nil {
		m.t.Fatal(err)
	}
}

// written waits for that file, and reads it.
func (m *machine) written(in *api.Instance, name string) string {
	m.t.Helper()
	path := m.data(in, name)
	var text []byte
	m.eventually(path+" is written", func(context.Context) error {
		var err error
		if text, err = os.ReadFile(path); err == nil && len(text) == 0 {
			err = fmt.Errorf("it is empty")
		}
		return err
	})
	return strings.TrimSpace(string(text))
}

func (m *machine) pid(in *api.Instance, name string) int {
	m.t.Helper()
	pid, err := strconv.Atoi(m.written(in, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return pid
}

func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// serving leaves a process in the background, which writes its number down.
const serving = `"(setsid sh -c 'echo $$ > $NOMAD_ALLOC_DIR/data/pid; exec sleep 1000' &); until [ -s $NOMAD_ALLOC_DIR/data/pid ]; do sleep 0.01; done"`

// TestEndsOfTasks has processes end in each of the ways that a user may mean
// something by.
func TestEndsOfTasks(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	const monitor = `monitor {
		command  = "/usr/bin/test"
		args     = ["-s", "${NOMAD_ALLOC_DIR}/data/pid"]
		interval = "1s"
	}`

	t.Run("an exit is told with its code", func(t *testing.T) {
		m := m.in(t)
		m.runText(`job "seventeen" { task "t" {
			restart { attempts = 0 }
			shell("exit 17")shell
		} }`)
		in := m.instance("seventeen", "it has crashed", crashedBy(`task "t": exited with code 17 after `))
		if in.State != api.InstanceCrashed || in.Routable {
			t.Errorf("it is %s, routable %t", in.State, in.Routable)
		}
	})

	t.Run("exit 0 of a daemon is not its end", func(t *testing.T) {
		m := m.in(t)
		m.runText(`job "daemon" { task "t" {
			daemon = true
			` + monitor + `
			shell(` + serving + `)shell
		} }`)
		in := m.instance("daemon", "it is up", serves)
		pid := m.pid(in, "pid")
		m.eventually("what went into the background is told", func(ctx context.Context) error {
			a, _, err := m.Client.Allocations().Get(ctx, in.Allocation, nil)
			if err != nil {
				return err
			}
			for _, e := range a.TaskStates["t"].Events {
				if strings.Contains(e.DisplayMessage, "in the background") {
					return nil
				}
			}
			return fmt.Errorf("events %+v", a.TaskStates["t"].Events)
		})
		// kill -9 of the agent changes nothing; the next one stands by it.
		m.Kill()
		m.start()
		m.waitReady()
		if in = m.instance("daemon", "it is up", serves); !runs(pid) || in.CrashCount > 0 {
			t.Fatalf("process %d runs: %t; crashes: %s", pid, runs(pid), in.CrashReason)
		}
		syscall.Kill(pid, syscall.SIGKILL)
		in = m.instance("daemon", "it has crashed", crashedBy(`task "t": ended by signal 9 (SIGKILL) in the background after `))
		in = m.instance("daemon", "it is up again", serves)
		m.eventually("it is another process", func(context.Context) error {
			if pid = m.pid(in, "pid"); !runs(pid) {
				return fmt.Errorf("process %d", pid)
			}
			return nil
		})
		if _, err := m.Client.Jobs().Deregister(t.Context(), "daemon", client.DeregisterOptions{}); err != nil {
			t.Fatal(err)
		}
		m.eventually("it is stopped", func(context.Context) error {
			if runs(pid) {
				return fmt.Errorf("process %d runs", pid)
			}
			return nil
		})
	})

	t.Run("exit 0 of another is", func(t *testing.T) {
		m := m.in(t)
		m.runText(`job "undaemon" { task "t" {
			restart { attempts = 0 }
			` + monitor + `
			shell(` + serving + `)shell
		} }`)
		in := m.instance("undaemon", "it has crashed", crashedBy("exited with code 0", "although it is to keep running"))
		if pid := m.pid(in, "pid"); runs(pid) {
			t.Errorf("what it left behind, process %d, still runs", pid)
		}
	})

	t.Run("a monitor that never succeeds", func(t *testing.T) {
		m := m.in(t)
		for name, limit := range map[string]string{"unlimited": "", "limited": `start_timeout = "1s"`} {
			m.runText(`job "` + name + `" { task "t" {
				restart { attempts = 0 }
				monitor {
					command = "/bin/sh"
					args    = ["-c", "echo it is dark; exit 9"]
					` + limit + `
				}
				shell("exec sleep 1000")shell
			} }`)
		}
		m.instance("limited", "it has crashed", crashedBy(`Never healthy: monitor of task "t" did not pass within 1s of the start (asked `, "exit code 9", "it is dark"))
		m.instance("unlimited", "it is not up", func(in *api.Instance) bool {
			return in.State == api.InstanceClaimed && in.CrashCount == 0 && in.Address == ""
		})
	})

	t.Run("codependent tasks end together", func(t *testing.T) {
		m := m.in(t)
		m.runText(`job "pair" { group "g" {
			fate = "codependent"
			ephemeral_disk { size = 10 }
			task "main" { shell("echo $$ > $NOMAD_ALLOC_DIR/data/main; exec sleep 1000")shell }
			task "beside" {
				lifecycle {
					hook    = "prestart"
					sidecar = true
				}
				shell("echo $$ > $NOMAD_ALLOC_DIR/data/beside; until [ -e $NOMAD_ALLOC_DIR/data/go ]; do sleep 0.01; done; rm $NOMAD_ALLOC_DIR/data/go")shell
			}
		} }`)
		in := m.instance("pair", "it is up", serves)
		main, beside := m.pid(in, "main"), m.pid(in, "beside")
		m.write(in, "go")
		m.instance("pair", "it has crashed", crashedBy(`task "beside": exited with code 0 after `))
		m.eventually("both are others", func(context.Context) error {
			if a, b := m.pid(in, "main"), m.pid(in, "beside"); a == main || b == beside || runs(main) || runs(beside) {
				return fmt.Errorf("processes %d and %d were %d and %d", a, b, main, beside)
			}
			return nil
		})
		if in = m.instance("pair", "it is up again", serves); in.CrashCount != 1 {
			t.Errorf("%d crashes; want 1", in.CrashCount)
		}
	})

	t.Run("independent ones do not", func(t *testing.T) {
		m := m.in(t)
		m.runText(`job "apart" { group "g" {
			fate = "independent"
			task "main" { shell("echo $$ > $NOMAD_ALLOC_DIR/data/main; exec sleep 1000")shell }
			task "other" {
				restart { attempts = 0 }
				shell("until [ -e $NOMAD_ALLOC_DIR/data/go ]; do sleep 0.01; done; exit 4")shell
			}
		} }`)
		in := m.instance("apart", "it is up", serves)
		main := m.pid(in, "main")
		m.write(in, "go")
		in = m.instance("apart", "one has crashed", crashedBy(`task "other": exited with code 4`))
		if !serves(in) || !runs(main) {
			t.Errorf("%s, routable %t, process %d runs: %t; want it to go on", in.State, in.Routable, main, runs(main))
		}
	})

	t.Run("monitor and checks both count", func(t *testing.T) {
		m := m.in(t)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		m.runText(fmt.Sprintf(`job "both" { task "t" {
			restart { attempts = 0 }
			monitor { command = "/bin/true" }
			service {
				provider = "nomad"
				port     = "%d"
				check {
					type          = "tcp"
					kind          = "liveness"
					interval      = "1s"
					timeout       = "1s"
					start_timeout = "1s"
				}
			}
			shell("exec sleep 1000")shell
		} }`, port))
		m.instance("both", "it has crashed", crashedBy("Never healthy: liveness check", fmt.Sprintf("tcp: connect to 127.0.0.1:%d: connection refused", port)))
	})
}

// TestReadinessOfAnInstance has a web server lose its readiness and get it back.
func TestReadinessOfAnInstance(t *testing.T) {
	m := newMachine(t)
	var ill atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if ill.Load() {
			http.Error(w, "I am ill", http.StatusServiceUnavailable)
		}
	}))
	defer web.Close()
	_, port, _ := net.SplitHostPort(web.Listener.Addr().String())
	job := func(name, check string) string {
		return `job "` + name + `" { task "t" {
			restart { attempts = 0 }
			service {
				provider = "nomad"
				port     = "` + port + `"
				` + check + `
			}
			shell("exec sleep 1000")shell
		} }`
	}
	check := func(kind string) string {
		return `check {
			type     = "http"
			path     = "/healthz"
			kind     = "` + kind + `"
			interval = "1s"
			timeout  = "1s"
		}`
	}
	m.runText(job("ready", check("readiness")))
	m.runText(job("alive", check("liveness")))
	m.runText(job("plain", ""))
	first := m.instance("ready", "it is routable", serves)
	m.instance("alive", "it is up", serves)
	m.instance("plain", "it is routable as soon as it runs", serves)

	ill.Store(true)
	in := m.instance("ready", "it has lost its readiness", func(in *api.Instance) bool { return !in.Routable })
	if in.State != api.InstanceRunning || in.CrashCount > 0 {
		t.Errorf("%s, %d crashes; want it to run", in.State, in.CrashCount)
	}
	m.instance("alive", "it has crashed", crashedBy("Became unhealthy after ", "liveness check", "http: GET http://127.0.0.1:"+port+"/healthz: 503 Service Unavailable in ", "I am ill"))
	ill.Store(false)
	if in = m.instance("ready", "it is routable again", serves); in.Allocation != first.Allocation || in.CrashCount > 0 {
		t.Errorf("allocation %s, %d crashes; want %s to have gone on", in.Allocation, in.CrashCount, first.Allocation)
	}
	if in := m.instance("plain", "it is up", serves); in.CrashCount > 0 {
		t.Errorf("without checks: %s", in.CrashReason)
	}
}
