// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/node/image/registrytest"
	"github.com/reeve-run/reeve/internal/node/image/store"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestMain(m *testing.M) { supervisetest.Main(m, nil) }

// A bed is a driver with its supervisor and a registry.
type bed struct {
	*container.Driver
	client   *supervise.Client
	registry *registrytest.Registry
	image    string
}

func newBed(t testing.TB, change func(*container.Config)) *bed {
	t.Helper()
	return bedWith(t, supervisetest.Connect(t), change)
}

func bedWith(t testing.TB, c *supervise.Client, change func(*container.Config)) *bed {
	t.Helper()
	b := &bed{client: c, registry: registrytest.New()}
	// Whatever else fills the disk of the machine, there is room, and nothing is collected for it.
	config := container.Config{Transport: b.registry, Collection: store.Policy{High: 1, Low: 1, Keep: 3 * time.Minute}}
	if change != nil {
		change(&config)
	}
	b.Driver = container.New(c, supervisetest.Dir(t), config, slog.New(slog.DiscardHandler))
	b.image = b.push(t, "tool:1", nil)
	if s := b.Fingerprint(t.Context()); !s.Healthy {
		t.Fatalf("the driver cannot run containers on this machine: %s", s.HealthDescription)
	}
	return b
}

func (b *bed) push(t testing.TB, name string, change func(*v1.Config), layers ...v1.Layer) string {
	t.Helper()
	i, err := containertest.Image(change, runtime.GOARCH, layers...)
	if err != nil {
		t.Fatal(err)
	}
	return b.registry.Push(t, name, i)
}

// task returns a task that runs the tool with the given commands.
func (b *bed) task(t testing.TB, id string, commands string, more ...map[string]any) *driver.Task {
	t.Helper()
	config := map[string]any{"image": b.image, "args": strings.Fields(commands)}
	for _, m := range more {
		for k, v := range m {
			config[k] = v
		}
	}
	return supervisetest.Task(t, id, config)
}

func (b *bed) start(t testing.TB, task *driver.Task) driver.Handle {
	t.Helper()
	h, err := b.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// run runs a task to its end, and returns what it printed.
func (b *bed) run(t testing.TB, task *driver.Task) (string, driver.Exit) {
	t.Helper()
	h := b.start(t, task)
	exit, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Destroy(context.Background()); err != nil {
		t.Error(err)
	}
	return output(t, task), exit
}

func output(t testing.TB, task *driver.Task) string {
	t.Helper()
	return supervisetest.Output(t, task.Logs.StdoutPrefix) + supervisetest.Output(t, task.Logs.StderrPrefix)
}

func TestAContainerSeesItsImageAndItsTask(t *testing.T) {
	b := newBed(t, nil)
	task := b.task(t, "a/web/0", "echo hello , pid , id , pwd , env GREETING , write /local/f x , write /f y , ls / , cat /proc/self/mountinfo , exit 7")
	got, exit := b.run(t, task)
	t.Log(got)
	if exit.Code != 7 {
		t.Errorf("exit %+v", exit)
	}
	for _, want := range []string{"hello\n", "pid 1\n", "uid 0 gid 0", "GREETING=hello", "secrets\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the output", want)
		}
	}
	if _, err := os.Stat(task.Dir.Task + "/container"); !os.IsNotExist(err) {
		t.Errorf("files of the container remain: %v", err)
	}
}
