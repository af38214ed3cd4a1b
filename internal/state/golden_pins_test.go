// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

const pinnedImage = "registry.example.com/web:1"

func digestOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

func goldenImagePin() *api.ImagePin {
	return &api.ImagePin{
		Namespace: "default", JobID: "web", JobVersion: 2, JobCreateIndex: 5, TaskGroup: "web", Task: "main", Image: pinnedImage,
		Digest: digestOf("a"), NodeID: "5f3e", AllocID: "a1", Time: 1_790_000_000_000_000_000,
	}
}

func goldenPinImage() *PinImage {
	return &PinImage{NodeID: "5f3e", AllocID: "a1", Task: "main", Image: pinnedImage, Digest: digestOf("a"), Time: 1_790_000_000_000_000_000}
}

// containerJob has one task with the image.
func containerJob(image string, priority int) *api.Job {
	job := testJob("web")
	job.Priority = priority
	job.Groups = []*api.Group{{Name: "web", Tasks: []*api.Task{{Name: "main", Driver: api.DriverContainer, Config: map[string]any{"image": image}}}}}
	return job
}

func pinnedAllocation(id, node string, job *api.Job) *api.Allocation {
	return &api.Allocation{
		ID: id, Namespace: "default", JobID: "web", Job: job, Name: "web.web[0]", Group: "web", NodeID: node,
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
	}
}

// pinStore holds what the format learned to hold with pins of images.
func pinStore(t testing.TB) *Store {
	s := New()
	must(t, s.Apply(5, []Command{&RegisterJob{Job: containerJob(pinnedImage, 50)}}))
	job := s.Snapshot().Job("default", "web")
	must(t, s.Apply(6, []Command{&CommitPlacement{Placement: &Placement{Job: job, Place: []*api.Allocation{pinnedAllocation("a1", "5f3e", nil)}}}}))
	must(t, s.Apply(7, []Command{goldenPinImage()}))
	return s
}
