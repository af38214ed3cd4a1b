// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
)

// dockerImage is the name of the containers' image at the Docker daemon.
const dockerImage = "bench.test/tool:1"

// dockerWithImage starts a Docker daemon that has the image of the containers; nil if the machine has no Docker.
func dockerWithImage(ctx context.Context, dir string) (*dockerd, error) {
	if _, err := exec.LookPath("dockerd"); err != nil {
		return nil, nil
	}
	d, err := startDockerd(ctx, dir)
	if err != nil {
		return nil, err
	}
	archive := filepath.Join(dir, "tool.tar")
	image, err := containertest.Image(nil, runtime.GOARCH)
	if err == nil {
		var tag name.Tag
		if tag, err = name.NewTag(dockerImage); err == nil {
			err = tarball.WriteToFile(archive, tag, image)
		}
	}
	if err == nil {
		err = d.docker(ctx, "load", "-q", "-i", archive)
	}
	if err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

// startContainer starts a container in the network of the node, and removes it. It returns the time from the command to
// the start of the process, as the daemon knows it.
func (d *dockerd) startContainer(ctx context.Context, id string) (time.Duration, error) {
	begin := time.Now()
	if err := d.docker(ctx, "run", "--detach", "--pull=never", "--network=host", "--name", id, dockerImage, "sleep"); err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, "docker", "-H", "unix://"+d.socket(), "inspect", "--format", "{{.State.StartedAt}}", id).Output()
	if err != nil {
		return 0, fmt.Errorf("docker inspect: %w", err)
	}
	started, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(out)))
	if err != nil {
		return 0, fmt.Errorf("docker inspect: %w", err)
	}
	return started.Sub(begin), d.docker(ctx, "rm", "--force", id)
}
