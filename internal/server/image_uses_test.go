// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// TestNodesLearnWhichImagesJobsNeed asks about pins of kept versions, a name with a digest, and what no
// registered job runs.
func TestNodesLearnWhichImagesJobsNeed(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.connect(containerNode("n1"), nil)
		job := pinnedJob(1)
		c.register(job)
		c.until("the job runs", func(v *state.Snapshot) bool { return len(running(v, "web")) == 1 })
		a := running(c.Store().Snapshot(), "web")[0]
		if _, err := c.PinImage(c.Context(), "n1", &api.ImagePinRequest{AllocID: a.ID, Task: "server", Image: pinnedImage, Digest: digestOf("a")}); err != nil {
			t.Fatal(err)
		}
		named := pinnedJob(1)
		named.ID, named.Name = "named", "named"
		named.Groups[0].Tasks[0].Config = map[string]any{"image": "registry.example.com/web@" + digestOf("b")}
		c.register(named)
		ask := func(node string, uses ...*api.ImageUse) (*api.ImageUsesResponse, error) {
			return c.ImageUses(node, &api.ImageUsesRequest{Uses: uses})
		}
		use := func(job, digit string) *api.ImageUse {
			return &api.ImageUse{Namespace: "default", JobID: job, Digest: digestOf(digit)}
		}
		got, err := ask("n1", use("web", "a"), use("web", "b"), use("named", "b"), use("other", "a"), &api.ImageUse{Namespace: "other", JobID: "web", Digest: digestOf("a")})
		if err != nil || len(got.Uses) != 2 || got.Uses[0].JobID != "web" || got.Uses[1].JobID != "named" || !slices.Equal(got.Uses[0].JobVersions, []uint64{a.Job.Version}) {
			t.Fatalf("needed: %+v, %v", got, err)
		}
		for name, r := range map[string]struct {
			node string
			uses []*api.ImageUse
			code api.ErrorCode
		}{
			"an unknown node": {"n9", []*api.ImageUse{use("web", "a")}, api.CodeNotFound},
			"no entry":        {"n1", []*api.ImageUse{nil}, api.CodeInvalid},
			"no job":          {"n1", []*api.ImageUse{use("", "a")}, api.CodeInvalid},
			"no digest":       {"n1", []*api.ImageUse{{Namespace: "default", JobID: "web", Digest: "latest"}}, api.CodeInvalid},
			"too many":        {"n1", slices.Repeat([]*api.ImageUse{use("web", "a")}, api.MaxImageUses+1), api.CodeInvalid},
		} {
			if got, err := ask(r.node, r.uses...); api.CodeOf(err) != r.code {
				t.Errorf("%s: %+v, %v; want %s", name, got, err, r.code)
			}
		}

		// A stopped job resolves its tags again: it needs nothing.
		if _, err := c.DeregisterJob(c.Context(), "default", "web", server.DeregisterOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, err := ask("n1", use("web", "a")); err != nil || len(got.Uses) != 0 {
			t.Errorf("needed by a stopped job: %+v, %v", got, err)
		}
	})
}

// TestAFloodOfImageUses asks 4,096 times about a job with many tasks. The job is read once.
func TestAFloodOfImageUses(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.connect(containerNode("n1"), nil)
		job := pinnedJob(1)
		job.Stop = false
		task := *job.Groups[0].Tasks[0]
		job.Groups[0].Tasks = nil
		for i := range 200 {
			next := task
			next.Name = fmt.Sprint("server-", i)
			next.Config = map[string]any{"image": fmt.Sprintf("registry.example.com/web-%d@%s", i, digestOf("b"))}
			job.Groups[0].Tasks = append(job.Groups[0].Tasks, &next)
		}
		job.Groups[0].Count = new(int)
		c.register(job)
		uses := slices.Repeat([]*api.ImageUse{{Namespace: "default", JobID: "web", Digest: digestOf("b")}}, api.MaxImageUses)
		got, err := c.ImageUses("n1", &api.ImageUsesRequest{Uses: uses})
		if err != nil || len(got.Uses) != len(uses) || !slices.Equal(got.Uses[0].JobVersions, []uint64{0}) {
			t.Fatalf("needed: %d, %v", len(got.Uses), err)
		}
		one := testing.AllocsPerRun(3, func() { c.ImageUses("n1", &api.ImageUsesRequest{Uses: uses[:1]}) })
		all := testing.AllocsPerRun(3, func() { c.ImageUses("n1", &api.ImageUsesRequest{Uses: uses}) })
		if all > one+3*api.MaxImageUses {
			t.Errorf("one use makes %.0f allocations of memory, %d uses make %.0f", one, len(uses), all)
		}
	})
}
