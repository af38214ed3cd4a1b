// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func goldenQuota() *api.Quota {
	return &api.Quota{Name: "team", Description: "for the web team", Limits: []*api.QuotaLimit{{
		Region: "global", Hash: []byte{1, 2, 3},
		RegionLimit: &api.QuotaResources{
			CPU: ptr(1000), MemoryMB: ptr(2048), Allocations: ptr(8),
			NodePools: []*api.NodePoolLimit{{NodePool: "gpu", Cores: ptr(4), MemoryMaxMB: ptr(-1), DiskMB: ptr(0)}},
		},
	}}}
}

// quotaStore holds what the format learned to hold with quotas.
func quotaStore(t testing.TB) *Store {
	s := New()
	job := testJob("web")
	job.Namespace = "dev"
	for i, c := range []Command{
		PutQuota(goldenQuota(), nil),
		PutNamespace(&api.Namespace{
			Name: "dev", Quota: "team", NodePoolConfiguration: &api.NamespaceNodePools{Default: "gpu", Allowed: []string{"gpu", "web-*"}},
		}, nil),
		&RegisterJob{Job: job},
	} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	return s
}
