// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

// policiesByName lists policies by the jobs that declare them.
var policiesByName = order[*api.Scaling]{
	key: func(s *api.Scaling) key {
		return key{namespace: s.Namespace, id: s.Target["Job"] + "/" + s.Target["Group"]}
	},
	byName: true,
	seen: func(c *call, s *api.Scaling) any {
		if c.may(acl.ReadScalingPolicy, s.Namespace) {
			return s
		}
		return s.Stub()
	},
}

func listScalingPolicies(c *call, v *state.Snapshot) iter.Seq[*api.Scaling] {
	job, kind := c.query.Get("job"), c.query.Get("type")
	return where(scalingPolicies(v, c.namespace), func(s *api.Scaling) bool {
		return strings.HasPrefix(s.ID, c.prefix) && (job == "" || s.Target["Job"] == job) && (kind == "" || s.Type == kind)
	})
}

func scalingPolicies(v *state.Snapshot, namespace string) iter.Seq[*api.Scaling] {
	return func(yield func(*api.Scaling) bool) {
		for job := range v.JobsWithScaling(namespace) {
			for _, s := range job.ScalingPolicies() {
				if !yield(s) {
					return
				}
			}
		}
	}
}

func showScalingPolicy(_ *call, _ *state.Snapshot, s *api.Scaling) *api.ScalingPolicyStub {
	return s.Stub()
}

func getScalingPolicy(c *call, v *state.Snapshot) (*api.Scaling, uint64, error) {
	for s := range scalingPolicies(v, allNamespaces) {
		if s.ID == c.id() && c.inNamespace(s.Namespace) {
			return s, s.ModifyIndex, nil
		}
	}
	return nil, v.TableIndex(c.route.Tables...), api.Errorf(api.CodeNotFound, "scaling policy %q not found", c.id())
}
