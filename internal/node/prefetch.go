// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// pullAhead pulls the image of a task that the node may be given.
func (n *Node) pullAhead(ctx context.Context, a *ahead) error {
	g := a.job.Group(a.group)
	t := g.Task(a.task)
	d, ok := n.config.Drivers[t.Driver].(driver.Prefetcher)
	if !ok {
		return &driver.SkipError{Reason: "driver " + t.Driver + " of this node pulls no images"}
	}
	config := aheadConfig(t.Config)
	if readsTask(config) {
		return &driver.SkipError{Reason: "the image or its credentials are known when the task starts"}
	}
	// The environment of no allocation: variables that depend on one, on templates or on secrets are missing.
	config = taskenv.Build(taskenv.Input{
		Node: n.Node(), Alloc: &api.Allocation{Namespace: a.namespace, JobID: a.id, Group: a.group, Job: a.job}, Group: g, Task: t,
	}).ReplaceConfig(config)
	image, ok := config["image"].(string)
	if !ok {
		return &driver.SkipError{Reason: "config image is not a name"}
	}
	if strings.Contains(image, "${") {
		return &driver.SkipError{Reason: "the name of the image is known when the task starts"}
	}
	return d.Prefetch(ctx, &driver.Prefetch{Namespace: a.namespace, JobID: a.id, JobVersion: a.version, Config: config, Digest: a.digestFor(image)})
}

// aheadConfig returns the part of a config block that decides what is pulled, and how.
func aheadConfig(config map[string]any) map[string]any {
	part := map[string]any{}
	for _, key := range []string{"image", "load", "auth", "auth_soft_fail", "image_pull_timeout"} {
		if v, ok := config[key]; ok {
			part[key] = v
		}
	}
	return part
}
