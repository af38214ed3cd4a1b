// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/sha256"
	"strings"
)

// ScalingHorizontal is the type of a scaling block that bounds a group's count.
const ScalingHorizontal = "horizontal"

// A ScalingPolicyStub is a scaling policy in list responses.
type ScalingPolicyStub struct {
	ID          string
	Enabled     bool
	Type        string
	Target      map[string]string
	CreateIndex uint64
	ModifyIndex uint64
}

// Stub returns the policy for list responses.
func (s *Scaling) Stub() *ScalingPolicyStub {
	return &ScalingPolicyStub{
		ID: s.ID, Enabled: s.Enabled == nil || *s.Enabled, Type: s.Type, Target: s.Target,
		CreateIndex: s.CreateIndex, ModifyIndex: s.ModifyIndex,
	}
}

// ScalingPolicyID returns the id of a group's scaling policy, a function of its arguments.
func ScalingPolicyID(namespace, job, group string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"scaling", namespace, job, group}, "\x00")))
	var id [16]byte
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x80 // RFC 9562, version 8: derived from a name
	id[8] = id[8]&0x3f | 0x80
	return FormatID(id)
}

// ScalingPolicies returns the policies that the job's groups declare; none for a stopped
// job.
func (j *Job) ScalingPolicies() (policies []*Scaling) {
	if j.Stop {
		return nil
	}
	for _, g := range j.Groups {
		if g.Scaling == nil {
			continue
		}
		s := *g.Scaling
		s.ID = ScalingPolicyID(j.Namespace, j.ID, g.Name)
		s.Namespace = j.Namespace
		s.Target = map[string]string{"Namespace": j.Namespace, "Job": j.ID, "Group": g.Name}
		s.CreateIndex, s.ModifyIndex = j.CreateIndex, j.JobModifyIndex
		policies = append(policies, &s)
	}
	return policies
}

// HasScaling reports whether any group declares a scaling policy.
func (j *Job) HasScaling() bool {
	for _, g := range j.Groups {
		if g.Scaling != nil {
			return true
		}
	}
	return false
}
