// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

const volumeClaimsName = "volume-claims"

var volumeClaims = declare(noun[api.VolumeClaim]{
	name: volumeClaimsName, singular: "volume claim", verb: "VolumeClaim", frame: 38,
	key:   func(c *api.VolumeClaim) string { return c.ID },
	stamp: func(c *api.VolumeClaim) (create, modify *uint64) { return &c.CreateIndex, &c.ModifyIndex },
	groups: func(c *api.VolumeClaim) []string {
		return []string{onVolume + c.VolumeID, ofJob + jobName(c.Namespace, c.JobID)}
	},
	since: func(*api.VolumeClaim) (int, string) { return 3, "claim host volumes" },
	admit: admitVolumeClaim,
})

// Groups of claims.
const (
	onVolume = "volume/"
	ofJob    = "job/"
)

// TableVolumeClaims holds *api.VolumeClaim.
var TableVolumeClaims = volumeClaims.table

// storedClaims returns the noun to functions that a declaration refers to.
func storedClaims() *noun[api.VolumeClaim] {
	return nounNamed(volumeClaimsName).(*noun[api.VolumeClaim])
}

// VolumeClaim returns a claim; nil if it does not exist.
func (c *content) VolumeClaim(id string) *api.VolumeClaim { return storedClaims().find(c, id) }

// VolumeClaims yields all claims, ordered by id.
func (c *content) VolumeClaims() iter.Seq[*api.VolumeClaim] { return storedClaims().all(c, "") }

// VolumeClaimsOf yields the claims of a job's instances.
func (c *content) VolumeClaimsOf(namespace, jobID string) iter.Seq[*api.VolumeClaim] {
	return storedClaims().ofGroup(c, ofJob+jobName(namespace, jobID))
}

// DeleteVolumeClaim returns the command that ends a claim: the instance may use another volume.
func DeleteVolumeClaim(id string) Command {
	return &deleteObject[api.VolumeClaim]{volumeClaims, id, nil}
}

// admitVolumeClaim keeps the claim of a running allocation: it would be claimed again anyway.
func admitVolumeClaim(_ *noun[api.VolumeClaim], c *content, old, new *api.VolumeClaim) error {
	if new != nil || old == nil {
		return nil
	}
	if a := c.Allocation(old.AllocID); a != nil && !a.IsClientTerminal() {
		return api.Errorf(api.CodeConflict, "claim %s is in use by %s (%s): stop the instance first", api.ShortID(old.ID), a.Name, api.ShortID(a.ID))
	}
	return nil
}

// claimVolumes records the sticky volumes of a new allocation.
func (t *txn) claimVolumes(a *api.Allocation) {
	if a.AllocatedResources == nil {
		return
	}
	for _, used := range a.AllocatedResources.Shared.Volumes {
		if !used.Sticky || used.ID == "" {
			continue
		}
		claim := &api.VolumeClaim{
			ID:        api.VolumeClaimID(a.Namespace, a.JobID, a.Group, used.Request, a.Index()),
			Namespace: a.Namespace, JobID: a.JobID, TaskGroupName: a.Group, Request: used.Request, Index: a.Index(),
			AllocID: a.ID, VolumeID: used.ID, VolumeName: used.Name,
		}
		if old := t.VolumeClaim(claim.ID); old == nil || old.AllocID != a.ID || old.VolumeID != used.ID {
			storedClaims().put(t, claim)
		}
	}
}

// endClaimsOn ends the claims on a deleted volume.
func (t *txn) endClaimsOn(volumeID string) {
	claims := storedClaims()
	for _, c := range slices.Collect(claims.ofGroup(t.content, onVolume+volumeID)) {
		claims.delete(t, c.ID)
	}
}

// endClaimsOf ends the claims of a deleted job.
func (t *txn) endClaimsOf(namespace, jobID string) {
	for _, c := range slices.Collect(t.VolumeClaimsOf(namespace, jobID)) {
		storedClaims().delete(t, c.ID)
	}
}
