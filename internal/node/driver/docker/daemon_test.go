// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
)

// A fakeDaemon answers requests as its handlers say, and records them.
type fakeDaemon struct {
	mu       sync.Mutex
	handlers map[string]http.HandlerFunc // by method and path
	asked    []string
	socket   string
}

func newFake(t *testing.T) (*fakeDaemon, *daemon) {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeDaemon{handlers: map[string]http.HandlerFunc{}, socket: filepath.Join(dir, "s")}
	l, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: f}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	gates := &container.Config{AllowCaps: container.DefaultCapabilities(), MaxProcesses: 4096}
	d := newDaemon(Config{Dir: filepath.Join(dir, "records"), Socket: f.socket}, gates, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		d.cancel()
		d.watch.Wait()
		d.c.Close()
		server.Close()
		<-served
		os.RemoveAll(dir)
	})
	return f, d
}

func (f *fakeDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + r.URL.Path
	f.mu.Lock()
	f.asked = append(f.asked, key)
	h := f.handlers[key]
	f.mu.Unlock()
	if h == nil {
		http.Error(w, `{"message":"no such object"}`, http.StatusNotFound)
		return
	}
	h(w, r)
}

func (f *fakeDaemon) answer(key string, status int, body any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers[key] = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (f *fakeDaemon) wasAsked(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.asked, key)
}

func fakeTask(t *testing.T) *driver.Task {
	t.Helper()
	root := t.TempDir()
	dir := driver.Dir{Alloc: root + "/alloc", Task: root + "/web", Local: root + "/web/local", Secrets: root + "/web/secrets"}
	for _, d := range []string{dir.Alloc, dir.Local, dir.Secrets} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &driver.Task{ID: "a1/web/1", AllocID: "a1", Name: "web", Dir: dir, Logs: driver.Logs{Disabled: true}, Config: map[string]any{"image": "web:1"}}
}

type state = map[string]any

func (f *fakeDaemon) withImage() {
	f.answer("GET /images/web:1/json", 200, state{"Id": "sha256:1", "Config": state{"User": ""}})
}

func TestSweepRemovesOnlyForgottenContainersOfItsOwn(t *testing.T) {
	f, d := newFake(t)
	now := time.Unix(1_000_000, 0)
	of := func(id, task string, age time.Duration) state {
		return state{"Id": id, "Created": now.Add(-age).Unix(), "Labels": map[string]string{labelAgent: d.agent, labelTask: task}}
	}
	f.answer("GET /containers/json", 200, []state{of("old", "a/web/1", time.Hour), of("young", "b/web/1", time.Minute), of("watched", "c/web/1", time.Hour), of("strange", "", time.Hour)})
	f.answer("DELETE /containers/old", 204, nil)
	d.hold("c/web/1")
	d.sweep(t.Context(), now.Add(-orphanAge))
	for id, want := range map[string]bool{"old": true, "young": false, "watched": false, "strange": false} {
		if f.wasAsked("DELETE /containers/"+id) != want {
			t.Errorf("container %s: removed %v, want %v", id, !want, want)
		}
	}
}

func TestAContainerOfAnotherIsNotReplaced(t *testing.T) {
	f, d := newFake(t)
	f.withImage()
	f.answer("POST /containers/create", 409, state{"message": "the name is in use"})
	f.answer("GET /containers/web-a1/json", 200, state{"Id": "other", "Config": state{"Labels": map[string]string{labelAgent: "another", labelAlloc: "a1"}}})
	_, err := start(t, d)
	if err == nil || !strings.Contains(err.Error(), "another container with the name web-a1") || f.wasAsked("DELETE /containers/other") || f.wasAsked("DELETE /containers/web-a1") {
		t.Errorf("got %v, asked %q", err, f.asked)
	}
}

func start(t *testing.T, d *daemon) (driver.Handle, error) {
	t.Helper()
	task := fakeTask(t)
	config, err := parse(task)
	if err != nil {
		t.Fatal(err)
	}
	return d.start(t.Context(), task, config)
}

// An answer of 500 may hide that the container was started.
func TestAContainerThatStartedInSpiteOfAnErrorIsAdopted(t *testing.T) {
	f, d := newFake(t)
	f.withImage()
	f.answer("POST /containers/create", 201, state{"Id": "c1"})
	f.answer("POST /containers/c1/start", 500, state{"message": "context deadline exceeded"})
	f.answer("GET /containers/c1/json", 200, state{"Id": "c1", "State": state{"Status": "exited", "Running": false, "ExitCode": 3, "Pid": 77, "StartedAt": "2026-01-02T03:04:05Z", "FinishedAt": "2026-01-02T03:04:06Z"}})
	f.answer("POST /containers/c1/wait", 200, state{"StatusCode": 3})
	f.answer("DELETE /containers/c1", 204, nil)
	h, err := start(t, d)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := h.Wait(t.Context()); err != nil || e.Code != 3 {
		t.Errorf("the end: %+v, %v", e, err)
	}
	if err := h.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	if r, err := d.records.load("a1/web/1"); r != nil || err != nil {
		t.Errorf("the record stays: %v, %v", r, err)
	}
}

// A request to create a container may have had its effect without an answer.
func TestAContainerOfALostAnswerIsRemoved(t *testing.T) {
	f, d := newFake(t)
	f.withImage()
	f.handlers["POST /containers/create"] = func(w http.ResponseWriter, _ *http.Request) {
		f.answer("GET /containers/web-a1/json", 200, state{"Id": "c1", "Config": state{"Labels": map[string]string{labelAgent: d.agent, labelTask: "a1/web/1"}}})
		http.Error(w, `{"message":"timeout"}`, http.StatusInternalServerError)
	}
	f.answer("DELETE /containers/c1", 204, nil)
	var again *driver.RecoverableError
	if _, err := start(t, d); !errors.As(err, &again) || !f.wasAsked("DELETE /containers/c1") {
		t.Errorf("got %v, asked %q", err, f.asked)
	}
}

func TestAFailedStartLeavesNothingAndMayBeRepeated(t *testing.T) {
	f, d := newFake(t)
	f.withImage()
	f.answer("POST /containers/create", 201, state{"Id": "c1"})
	f.answer("POST /containers/c1/start", 500, state{"message": "no space left on device"})
	f.answer("GET /containers/c1/json", 200, state{"Id": "c1", "State": state{"Status": "created"}})
	f.answer("DELETE /containers/c1", 204, nil)
	_, err := start(t, d)
	var again *driver.RecoverableError
	if !errors.As(err, &again) || !strings.Contains(err.Error(), "no space left on device") || !f.wasAsked("DELETE /containers/c1") {
		t.Errorf("got %v, asked %q", err, f.asked)
	}
	if r, err := d.records.load("a1/web/1"); r != nil || err != nil {
		t.Errorf("the record stays: %v, %v", r, err)
	}
}

// A daemon that is away makes no task dead: the handle waits for it.
func TestATaskOfAnAbsentDaemonIsNotLost(t *testing.T) {
	_, d := newFake(t)
	d.c.Close()
	d.c = engine.New(filepath.Join(t.TempDir(), "absent"))
	task := fakeTask(t)
	if err := d.records.save(&record{ID: task.ID, Container: "c1", Started: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	h, err := d.recover(t.Context(), task)
	if err != nil || h == nil {
		t.Fatalf("got %v, %v", h, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the task has ended: %v", err)
	}
	if s := d.fingerprint(t.Context()); s.Healthy || !strings.Contains(s.HealthDescription, "does not answer") {
		t.Errorf("the fingerprint is %+v", s)
	}
}

// A change of the mode leaves no container without its task.
func TestATaskOfAnotherModeIsRecovered(t *testing.T) {
	f, d := newFake(t)
	task := fakeTask(t)
	if err := d.records.save(&record{ID: task.ID, Container: "c1", Started: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	f.answer("GET /containers/web-a1/json", 200, state{"Id": "c1", "State": state{"Status": "exited", "ExitCode": 5, "StartedAt": "2026-01-02T03:04:05Z"}, "Config": state{"Labels": map[string]string{labelTask: task.ID}}})
	f.answer("GET /containers/c1/json", 200, state{"Id": "c1", "State": state{"Status": "exited", "ExitCode": 5}})
	f.answer("POST /containers/c1/wait", 200, state{"StatusCode": 5})
	other := New(new(container.Driver), Config{Mode: Container, Dir: d.records.dir, Socket: f.socket}, slog.New(slog.DiscardHandler))
	h, err := other.Recover(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := h.Wait(t.Context()); err != nil || e.Code != 5 {
		t.Errorf("the end: %+v, %v", e, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	other.Keep(ctx)
}

func TestTheDescriptionHasOnlyPermittedPrivileges(t *testing.T) {
	_, d := newFake(t)
	for want, config := range map[string]map[string]any{
		"set allow_privileged = true":  {"privileged": true},
		"docker_runtimes":              {"runtime": "kata"},
		"volumes = true":               {"mount": []any{map[string]any{"type": "volume", "source": "x", "target": "/x"}}},
		"set volumes = true":           {"volumes": []any{"/etc:/host"}},
		"security_opt \"apparmor=unco": {"security_opt": []any{"apparmor=unconfined"}},
		"add it to allow_caps":         {"cap_add": []any{"sys_admin"}},
	} {
		task := fakeTask(t)
		config["image"] = "web:1"
		task.Config = config
		c, err := parse(task)
		if err == nil {
			err = d.permit(task, c)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", config, err, want)
		}
	}
	c, _ := api.ParseDockerConfig(map[string]any{"image": "web:1", "cap_drop": []any{"chown"}, "cap_add": []any{"net_raw"}})
	if caps := capabilities(c); slices.Contains(caps, "CAP_CHOWN") || !slices.Contains(caps, "CAP_NET_RAW") || !slices.Contains(caps, "CAP_KILL") {
		t.Errorf("the capabilities are %q", caps)
	}
}

// A link in the task's directory leads nowhere else, and no other task can change a path while the
// daemon opens it.
func TestSourcesBelowTheTaskFollowNoLinkOut(t *testing.T) {
	task := fakeTask(t)
	if err := os.Mkdir(task.Dir.Local+"/data", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"/out": "/etc", "/in": "data"} {
		if err := os.Symlink(target, task.Dir.Local+link); err != nil {
			t.Fatal(err)
		}
	}
	open := func(source string) (string, error) {
		paths, err := resolveSources(task, &api.ContainerConfig{Mounts: []api.ContainerMount{{Type: "bind", Source: source, Target: "/x"}}})
		return strings.Join(paths, " "), err
	}
	for _, source := range []string{"local/out", "local/out/passwd", "../../etc", "local/../../../etc", "../alloc/data", "../alloc/../alloc/x"} {
		if path, err := open(source); err == nil {
			t.Errorf("%s leads to %s", source, path)
		}
	}
	for source, want := range map[string]string{"local/data": task.Dir.Local + "/data", "local/in": task.Dir.Local + "/data", "../alloc": task.Dir.Alloc, "conf": task.Dir.Task + "/conf"} {
		if path, err := open(source); err != nil || path != want {
			t.Errorf("%s leads to %s, %v; want %s", source, path, err, want)
		}
	}
}
