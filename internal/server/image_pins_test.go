// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

const pinnedImage = "registry.example.com/web:1"

func digestOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// containerNode is a node that runs containers.
func containerNode(id string) *api.Node {
	n := newNode(id)
	n.Attributes["driver.container"] = "1"
	n.Drivers["container"] = &api.DriverStatus{Detected: true, Healthy: true}
	return n
}

// pinnedJob runs containers of an image with a tag.
func pinnedJob(count int) *api.Job {
	job := serviceJob("web", count)
	job.Groups[0].Tasks[0].Driver, job.Groups[0].Tasks[0].Config = api.DriverContainer, map[string]any{"image": pinnedImage}
	return job
}

// TestNodesAgreeOnOneImage has two nodes resolve a tag at once, with different results.
func TestNodesAgreeOnOneImage(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.connect(containerNode("n1"), nil)
		c.connect(containerNode("n2"), nil)
		job := pinnedJob(2)
		job.Constraints = []*api.Constraint{{Operand: "distinct_hosts", RTarget: "true"}}
		c.register(job)
		c.until("the job runs", func(v *state.Snapshot) bool { return len(running(v, "web")) == 2 })
		list := running(c.Store().Snapshot(), "web")
		ask := func(a *api.Allocation, digest string) *api.ImagePinRequest {
			return &api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: digest}
		}
		if got, err := c.PinImage(c.Context(), list[0].NodeID, ask(list[0], "")); err != nil || got.Digest != "" || got.Pinned {
			t.Fatalf("before the first digest: %+v, %v", got, err)
		}
		var answers [2]*api.ImagePinResponse
		var wg sync.WaitGroup
		for i, digit := range []string{"a", "b"} {
			wg.Go(func() {
				var err error
				if answers[i], err = c.PinImage(c.Context(), list[i].NodeID, ask(list[i], digestOf(digit))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if answers[0] == nil || answers[1] == nil || *answers[0] != *answers[1] || !answers[0].Pinned {
			t.Fatalf("two nodes at once got %+v and %+v", answers[0], answers[1])
		}
		if got, err := c.PinImage(c.Context(), list[1].NodeID, ask(list[1], "")); err != nil || *got != *answers[0] {
			t.Errorf("asked again: %+v, %v", got, err)
		}
		if pins := c.Store().Snapshot().ImagePinsOf("default", "web"); len(pins) != 1 {
			t.Errorf("pins: %+v", pins)
		}
	})
}

// TestPinsOfHostileNodes sends what no honest node sends.
func TestPinsOfHostileNodes(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.connect(containerNode("n1"), nil)
		job := pinnedJob(1)
		c.register(job)
		c.until("the job runs", func(v *state.Snapshot) bool { return len(running(v, "web")) == 1 })
		c.connect(containerNode("n2"), nil)
		a := running(c.Store().Snapshot(), "web")[0]
		for name, r := range map[string]struct {
			node string
			api.ImagePinRequest
			code api.ErrorCode
		}{
			"another node":       {"n2", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: digestOf("a")}, api.CodeNotFound},
			"an unknown node":    {"n3", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: digestOf("a")}, api.CodeNotFound},
			"a part of an id":    {"n1", api.ImagePinRequest{AllocID: a.ID[:8], Task: "server", Image: pinnedImage, Digest: digestOf("a")}, api.CodeNotFound},
			"another task":       {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "other", Image: pinnedImage, Digest: digestOf("a")}, api.CodeNotFound},
			"another image":      {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: "evil.example.com/web:1", Digest: digestOf("a")}, api.CodeInvalid},
			"no task":            {"n1", api.ImagePinRequest{AllocID: a.ID, Image: pinnedImage, Digest: digestOf("a")}, api.CodeInvalid},
			"no image":           {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Digest: digestOf("a")}, api.CodeInvalid},
			"a long image":       {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: strings.Repeat("a", 1<<20), Digest: digestOf("a")}, api.CodeInvalid},
			"a control sequence": {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: "web\x1b[31m", Digest: digestOf("a")}, api.CodeInvalid},
			"a short digest":     {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: "sha256:aa"}, api.CodeInvalid},
			"another digest":     {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: "md5:" + strings.Repeat("a", 64)}, api.CodeInvalid},
			"upper case":         {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: "sha256:" + strings.Repeat("A", 64)}, api.CodeInvalid},
			"a path":             {"n1", api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: "sha256:" + strings.Repeat("../", 21) + "a"}, api.CodeInvalid},
		} {
			if got, err := c.PinImage(c.Context(), r.node, &r.ImagePinRequest); api.CodeOf(err) != r.code {
				t.Errorf("%s: %+v, %v; want %s", name, got, err, r.code)
			}
		}
		if pins := c.Store().Snapshot().ImagePinsOf("default", "web"); len(pins) != 0 {
			t.Errorf("pins: %+v", pins[0])
		}
	})
}
