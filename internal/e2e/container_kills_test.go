// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

var (
	killRounds = flag.Int("kills", 20, "number of kills of TestContainerKillsAtEachStep")
	killSeed   = flag.Uint64("kill-seed", 1, "seed of their moments")
)

// TestContainerKillsAtEachStep kills the agent, the supervisor or both, or breaks the connections of the registry and the
// artifact's server, at a seeded moment of a container's pull, artifact, network, start and stop. The container runs once
// all are back. When it is stopped and collected, the machine has what it had before.
func TestContainerKillsAtEachStep(t *testing.T) {
	if !apart(t, unix.CLONE_NEWNET, "-kills", strconv.Itoa(*killRounds), "-kill-seed", strconv.FormatUint(*killSeed, 10)) {
		return
	}
	r := newRegistry(t)
	rng := rand.New(rand.NewPCG(*killSeed, 2))
	noise := make([]byte, 1<<20)
	for n := range noise {
		noise[n] = byte(rng.Uint32())
	}
	file := slices.Clone(noise)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.away.Load() {
			panic(http.ErrAbortHandler)
		}
		w.Write(file)
	}))
	defer server.Close()
	m := unstarted(t)
	m.Args = []string{"-dev", "-config", m.configured(fmt.Sprintf("client {\n  gc_max_allocs = 1\n  host_volume \"data\" { path = %q }\n}\n", openDir(t)))}
	m.start()
	m.waitReady()
	m.reeve("var", "put", "nomad/jobs/shop", "password=canary-5b1")
	victims := []struct {
		name string
		kill func()
	}{
		{"the agent", func() { m.Kill(); m.start() }},
		{"the supervisor", func() { syscall.Kill(m.Supervisor(), syscall.SIGKILL) }},
		{"agent and supervisor", func() { supervisor := m.Supervisor(); m.Kill(); syscall.Kill(supervisor, syscall.SIGKILL); m.start() }},
		{"the registry", func() { r.away.Store(true); wait.Pass(t.Context(), 100*time.Millisecond); r.away.Store(false) }},
	}
	var before map[string]int
	begun := time.Now()
	for round := -1; round < *killRounds; round++ { // one without a kill first
		job := everythingJob(r.noisy(t, noise, round), fmt.Sprintf("%s/noise-%d", server.URL, round), 1)
		job.Groups[0].Restart = &api.Restart{Attempts: ptr(1000), Interval: ptr(time.Hour), Delay: ptr(100 * time.Millisecond), Mode: ptr("delay")}
		job.Groups[0].Reschedule = &api.Reschedule{Unlimited: ptr(true), Delay: ptr(100 * time.Millisecond), DelayFunction: ptr("constant")}
		victim, stopping := victims[max(round, 0)%len(victims)], round%3 == 2
		moment := time.Duration(rng.IntN(300)) * time.Millisecond
		kill := func() {
			wait.Pass(t.Context(), moment)
			victim.kill()
			m.waitReady()
		}
		what := fmt.Sprintf("round %d: %s is killed %s after the begin; stopping: %v", round, victim.name, moment, stopping)
		t.Logf("%s: %s", time.Since(begun).Round(time.Millisecond), what)
		m.register(job)
		if round >= 0 && !stopping {
			kill()
		}
		m.allocations("shop", "runs: "+what, running(1))
		if _, err := m.Client.Jobs().Deregister(t.Context(), "shop", client.DeregisterOptions{Purge: true}); err != nil {
			t.Fatal(err)
		}
		if stopping {
			kill()
		}
		m.eventually("the tasks have ended: "+what, func(context.Context) error {
			if left := m.Processes(); len(left) != 1 {
				return fmt.Errorf("%d processes", len(left))
			}
			return nil
		})
		if round < 0 {
			m.collected()
			before = m.settled(nil)
		}
	}
	m.collected()
	t.Log(m.settled(before))
}

// collected ends when no image is on the node.
func (m *machine) collected() {
	m.t.Helper()
	nodes, _, err := m.Client.Nodes().List(m.t.Context(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	m.eventually("no image is left", func(ctx context.Context) error {
		if err := m.Client.System().CollectGarbage(ctx); err != nil {
			return err
		}
		list, err := m.Client.Nodes().CollectImages(ctx, nodes[0].ID)
		if err == nil && len(list.Images) > 0 {
			err = fmt.Errorf("%d images; the first one: %s", len(list.Images), list.Images[0].Reason)
		}
		return err
	})
}

// noisy pushes an image with a layer of its own, and returns its name.
func (r *localRegistry) noisy(t *testing.T, noise []byte, round int) string {
	t.Helper()
	noise[(round+1)%len(noise)]++
	layer, err := containertest.Layer(containertest.File{Name: "noise", Mode: 0o644, Body: string(noise)})
	if err != nil {
		t.Fatal(err)
	}
	i, err := containertest.Image(nil, runtime.GOARCH, layer)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(fmt.Sprintf("%s/noise:%d", r.host, round+1), name.Insecure)
	if err == nil {
		err = remote.Write(ref, i)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref.Name()
}
