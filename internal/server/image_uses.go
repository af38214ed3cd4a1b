// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// ImageUses returns the uses of a node's images by jobs that are registered: those whose digest a kept
// version is pinned to, or names. It tells a node nothing about jobs that the node does not name.
func (s *Server) ImageUses(nodeID string, r *api.ImageUsesRequest) (*api.ImageUsesResponse, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	v := s.store.Snapshot()
	if _, err := registered(v, nodeID); err != nil {
		return nil, err
	}
	answer := &api.ImageUsesResponse{Uses: []*api.ImageUse{}}
	for _, u := range r.Uses {
		if versions := versionsOf(v, u); len(versions) > 0 {
			answer.Uses = append(answer.Uses, &api.ImageUse{Namespace: u.Namespace, JobID: u.JobID, Digest: u.Digest, JobVersions: versions})
		}
	}
	return answer, nil
}

// versionsOf returns the kept versions of a registered job that run a digest. A stopped job resolves its
// tags again when it is started.
func versionsOf(v *state.Snapshot, u *api.ImageUse) (versions []uint64) {
	job := v.Job(u.Namespace, u.JobID)
	if job == nil || job.Stop {
		return nil
	}
	for _, p := range v.ImagePinsOf(u.Namespace, u.JobID) {
		if p.Digest == u.Digest && p.JobCreateIndex == job.CreateIndex {
			versions = append(versions, p.JobVersion)
		}
	}
	for _, g := range job.Groups {
		for _, t := range g.Tasks {
			if name, _ := t.Config["image"].(string); strings.HasSuffix(name, "@"+u.Digest) {
				versions = append(versions, job.Version)
			}
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}
