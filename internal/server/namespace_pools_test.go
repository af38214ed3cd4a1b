// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// TestNamespacesRestrictNodePools registers jobs of pools that a namespace allows, and of others.
func TestNamespacesRestrictNodePools(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.until("the state has the level of pool rules", func(s *state.Snapshot) bool { return s.Level() >= 3 })
		for _, pool := range []string{"web", "batch-1", "gpu"} {
			if _, err := c.PutNodePool(c.Context(), &api.NodePool{Name: pool}); err != nil {
				t.Fatal(err)
			}
		}
		put := func(n *api.Namespace) {
			t.Helper()
			if _, err := c.PutNamespace(c.Context(), n, nil); err != nil {
				t.Fatal(err)
			}
		}
		put(&api.Namespace{Name: "some", NodePoolConfiguration: &api.NamespaceNodePools{Default: "web", Allowed: []string{"batch-*"}}})
		put(&api.Namespace{Name: "most", NodePoolConfiguration: &api.NamespaceNodePools{Denied: []string{"g*u", "web"}}})
		for _, tc := range []struct{ namespace, pool, want string }{
			{"some", "", "web"}, {"some", "web", "web"}, {"some", "batch-1", "batch-1"}, {"some", "default", ""}, {"some", "gpu", ""}, {"some", "all", ""},
			{"most", "", "default"}, {"most", "batch-1", "batch-1"}, {"most", "gpu", ""}, {"most", "web", ""}, {"most", "all", ""},
			{"default", "", "default"}, {"default", "all", "all"},
		} {
			job := serviceJob("web", 0)
			job.Namespace, job.NodePool = tc.namespace, tc.pool
			_, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job})
			if tc.want == "" {
				c.refused(err, api.CodeInvalid, `namespace "`+tc.namespace+`" does not allow node pool "`+tc.pool+`"`)
				continue
			}
			if err != nil {
				t.Errorf("%s, pool %q: %v", tc.namespace, tc.pool, err)
				continue
			}
			if stored := c.Store().Snapshot().Job(tc.namespace, "web"); stored.NodePool != tc.want {
				t.Errorf("%s, pool %q: the job runs in %q, want %q", tc.namespace, tc.pool, stored.NodePool, tc.want)
			}
		}
	})
}
