// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/testbed"
)

// containers measures starts of containers whose image the node has, in turns with those of a Docker daemon, and the
// memory of the agent and its supervisor for them.
func containers(ctx context.Context, b *bench) error {
	m, image, err := b.containerMachine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	docker, err := dockerWithImage(ctx, filepath.Join(m.Dir, "docker"))
	if err != nil {
		return err
	}
	if docker != nil {
		defer docker.stop()
	}
	var alone times // starts by Docker
	job := func(id string, n int) *api.Job {
		return testbed.Job(id, "container", n, map[string]any{"image": image, "args": []string{"sleep"}})
	}
	var started [2]times // in the network of the node, and in one of its own: alternately, so that both meet the same load
	for i := range 60 {
		id := fmt.Sprintf("container-%d", i)
		one := job(id, 1)
		if i%2 == 1 {
			one.Groups[0].Networks = []*api.Network{{Mode: "bridge"}}
		}
		begin := time.Now()
		if err := register(ctx, m, one); err != nil {
			return err
		}
		if err := m.allRunning(ctx, id, 1); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		list, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
		if err != nil {
			return err
		}
		if i > 1 { // the first one pulls the image, and the second one creates the bridge
			started[i%2] = append(started[i%2], list[0].TaskStates["task"].StartedAt.Sub(begin))
		}
		if _, err := m.Client.Jobs().Deregister(ctx, id, purge); err != nil {
			return err
		}
		if err := m.allEnded(ctx, id); err != nil {
			return err
		}
		if docker != nil && i%2 == 1 {
			took, err := docker.startContainer(ctx, id)
			if err != nil {
				return err
			}
			alone = append(alone, took)
		}
	}
	b.add("register -> the process of a container started, image present", "p50 <= 60 ms", "%s", started[0])
	b.add("the same with a network of its own (bridge)", "p50 <= 90 ms", "%s", started[1])
	if len(alone) > 1 {
		b.add("docker run -> the process of the same container started, in turns", "", "%s", alone[1:]) // the first one is slower
		docker.stop()
	}
	const n = 200
	if err := pause(ctx, settle); err != nil {
		return err
	}
	before := m.ownMemory()
	begin := time.Now()
	if err := register(ctx, m, job("many", n)); err != nil {
		return err
	}
	if err := m.allRunning(ctx, "many", n); err != nil {
		return err
	}
	took := time.Since(begin)
	if err := pause(ctx, settle); err != nil {
		return err
	}
	b.add("200 containers: all running in state", "<= 12 s", "%s", ms(took))
	b.add("200 containers: memory of agent and supervisor", "<= 1 MB each", "%.1f KB each", float64(m.ownMemory()-before)/n/1e3)
	return nil
}

// containerMachine starts an agent with an image layout, and returns the layout's name.
func (b *bench) containerMachine(ctx context.Context) (*machine, string, error) {
	tm, err := testbed.New(b.reeve)
	if err != nil {
		return nil, "", err
	}
	m := &machine{Machine: tm}
	images, config := filepath.Join(m.Dir, "layouts"), filepath.Join(m.Dir, "agent.hcl")
	i, err := containertest.Image(nil, runtime.GOARCH)
	if err == nil {
		err = containertest.WriteLayout(filepath.Join(images, "tool"), i)
	}
	if err == nil {
		err = os.WriteFile(config, fmt.Appendf(nil, "client {\n  container {\n    image_dir = %q\n  }\n}\n", images), 0o600)
	}
	m.Args = []string{"-dev", "-config", config}
	if err == nil {
		err = m.Start()
	}
	if err == nil {
		err = m.poll(ctx, m.Ready)
	}
	if err != nil {
		m.Destroy()
		return nil, "", err
	}
	return m, "oci:" + filepath.Join(images, "tool"), nil
}
