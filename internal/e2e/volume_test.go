// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// volumeMachine starts an agent with a configuration file.
func volumeMachine(t *testing.T, config string) *machine {
	t.Helper()
	m := unstarted(t)
	file := filepath.Join(t.TempDir(), "agent.hcl")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Args = []string{"-dev", "-config", file}
	m.start()
	m.waitReady()
	return m
}

// volumeJob runs a script in isolation, with a volume at /data.
func volumeJob(id, source, script string) *api.Job {
	job := testbed.ShellJob(id, 1, script)
	task := job.Groups[0].Tasks[0]
	task.Driver, task.User = "exec", "nobody"
	job.Groups[0].Volumes = map[string]*api.VolumeRequest{"data": {Name: "data", Type: api.VolumeTypeHost, Source: source}}
	task.VolumeMounts = []*api.VolumeMount{{Volume: "data", Destination: "/data"}}
	return job
}

// holds waits for the content of a file.
func (m *machine) holds(path, want string) {
	m.t.Helper()
	m.eventually(path+" holds "+want, func(context.Context) error {
		text, err := os.ReadFile(path)
		if err == nil && strings.TrimSpace(string(text)) != want {
			err = fmt.Errorf("it holds %q", text)
		}
		return err
	})
}

// openDir makes a directory that every user may write to.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for at := filepath.Dir(dir); at != "/tmp" && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestVolumeStatic writes to a volume of the agent's configuration, reads it in another job that
// must not write, and is refused where it asks for more than the node offers.
func TestVolumeStatic(t *testing.T) {
	dir := openDir(t)
	m := volumeMachine(t, fmt.Sprintf("client {\n  host_volume \"data\" { path = %q }\n  host_volume \"locked\" {\n    path = %q\n    read_only = true\n  }\n}\n", dir, dir))
	m.register(volumeJob("writer", "data", `echo written > /data/file; exec sleep 86400`))
	m.allocations("writer", "runs", running(1))
	m.holds(filepath.Join(dir, "file"), "written")

	reader := volumeJob("reader", "locked", `cat /data/file > /alloc/read; (echo no > /data/file) 2>/alloc/refused; exec sleep 86400`)
	reader.Groups[0].Volumes["data"].ReadOnly = true
	m.register(reader)
	read := m.allocations("reader", "runs", running(1))
	alloc := filepath.Join(m.Dir, "node/alloc", read[0].ID, "alloc")
	m.holds(filepath.Join(alloc, "read"), "written")
	m.eventually("the reader was refused", func(context.Context) error {
		text, err := os.ReadFile(filepath.Join(alloc, "refused"))
		if err == nil && !strings.Contains(string(text), "Read-only file system") {
			err = errors.New(string(text))
		}
		return err
	})
	m.holds(filepath.Join(dir, "file"), "written")

	for id, want := range map[string]string{"locked": `host volume "locked" is read-only`, "absent": `missing host volume "absent"`} {
		m.register(volumeJob(id, id, `exec sleep 86400`))
		m.eventually(id+" is explained", func(ctx context.Context) error {
			explained, _, err := m.Client.Jobs().Explain(ctx, id, nil)
			if err == nil && !strings.Contains(fmt.Sprintf("%+v", *explained.Groups[0]), want) {
				err = fmt.Errorf("%+v", *explained.Groups[0])
			}
			return err
		})
	}
	raw := volumeJob("raw", "data", "true")
	raw.Groups[0].Tasks[0].Driver = "raw_exec"
	_, err := m.Client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: raw})
	if err == nil || !strings.Contains(fmt.Sprintf("%+v", err), `driver "raw_exec" cannot mount volumes`) {
		t.Errorf("raw_exec: %v", err)
	}
}

// TestVolumeLinksDoNotLeadOut lets a task replace the directory of a volume that lies in its own volume by
// a link to the host's files. The next task with that volume must not start with them.
func TestVolumeLinksDoNotLeadOut(t *testing.T) {
	dir, secret := openDir(t), t.TempDir()
	inner := filepath.Join(dir, "inner")
	if err := errors.Join(os.Mkdir(inner, 0o777), os.Chmod(inner, 0o777), os.WriteFile(filepath.Join(secret, "secret"), []byte("secret"), 0o644)); err != nil {
		t.Fatal(err)
	}
	m := volumeMachine(t, fmt.Sprintf("client {\n  host_volume \"outer\" { path = %q }\n  host_volume \"inner\" { path = %q }\n}\n", dir, inner))
	m.register(volumeJob("attacker", "outer", fmt.Sprintf(`rmdir /data/inner; ln -s %s /data/inner; ln -s / /data/mnt; exec sleep 86400`, secret)))
	m.eventually("the directory is a link", func(context.Context) error {
		_, err := os.Readlink(filepath.Join(dir, "mnt"))
		return err
	})
	victim := volumeJob("victim", "inner", `cat /data/secret > /alloc/leak; exec sleep 86400`)
	m.register(victim)
	nested := volumeJob("nested", "outer", `exec sleep 86400`)
	nested.Groups[0].Tasks[0].VolumeMounts = append(nested.Groups[0].Tasks[0].VolumeMounts, &api.VolumeMount{Volume: "data", Destination: "/data/mnt/mnt"})
	m.register(nested)
	for _, id := range []string{"victim", "nested"} {
		m.eventually(id+" does not start", func(ctx context.Context) error {
			list, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
			for _, a := range list {
				for _, s := range a.TaskStates {
					if strings.Contains(events(s), "symbolic link") && s.StartedAt.IsZero() {
						return nil
					}
				}
				err = fmt.Errorf("%+v", a.TaskStates)
			}
			return err
		})
	}
	leaks, _ := filepath.Glob(filepath.Join(m.Dir, "node/alloc/*/alloc/leak"))
	if len(leaks) > 0 {
		t.Errorf("a task read the host's files: %v", leaks)
	}
	if _, err := os.Stat("/mnt/mnt"); err == nil {
		t.Error("a mount made a directory of the host")
	}
}
