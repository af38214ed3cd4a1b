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
	jobs := map[api.NamespacedID]map[string][]uint64{} // a node may name one large job in each use
	for _, u := range r.Uses {
		id := api.NamespacedID{Namespace: u.Namespace, ID: u.JobID}
		digests, known := jobs[id]
		if !known {
			digests = digestsOf(v, id)
			jobs[id] = digests
		}
		if versions := digests[u.Digest]; len(versions) > 0 {
			answer.Uses = append(answer.Uses, &api.ImageUse{Namespace: u.Namespace, JobID: u.JobID, Digest: u.Digest, JobVersions: versions})
		}
	}
	return answer, nil
}

// digestsOf returns the kept versions of a registered job by the digests that they run. A stopped job resolves its
// tags again when it is started.
func digestsOf(v *state.Snapshot, id api.NamespacedID) map[string][]uint64 {
	job := v.Job(id.Namespace, id.ID)
	if job == nil || job.Stop {
		return nil
	}
	digests := map[string][]uint64{}
	for _, p := range v.ImagePinsOf(id.Namespace, id.ID) {
		if p.JobCreateIndex == job.CreateIndex {
			digests[p.Digest] = append(digests[p.Digest], p.JobVersion)
		}
	}
	for _, g := range job.Groups {
		for _, t := range g.Tasks {
			name, _ := t.Config["image"].(string)
			if _, digest, ok := strings.Cut(name, "@"); ok {
				digests[digest] = append(digests[digest], job.Version)
			}
		}
	}
	for digest, versions := range digests {
		slices.Sort(versions)
		digests[digest] = slices.Compact(versions)
	}
	return digests
}
