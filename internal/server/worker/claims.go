// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// Claims returns the volumes that the job's instances keep.
func Claims(r Reader, job *api.Job) map[placement.ClaimKey]placement.Claimed {
	if job == nil {
		return nil
	}
	var all map[placement.ClaimKey]placement.Claimed
	for c := range r.VolumeClaimsOf(job.Namespace, job.ID) {
		claimed := placement.Claimed{ClaimID: c.ID, VolumeID: c.VolumeID}
		if v := r.HostVolume(c.VolumeID); v != nil {
			claimed.NodeName = api.ShortID(v.NodeID)
			if n := r.Node(v.NodeID); n != nil {
				claimed.NodeName = n.Name
			}
		}
		if all == nil {
			all = map[placement.ClaimKey]placement.Claimed{}
		}
		all[placement.ClaimKey{Group: c.TaskGroupName, Request: c.Request, Index: c.Index}] = claimed
	}
	return all
}
