// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// identified returns the running allocation of a job with identities on a node of the cluster.
func identified(c *cluster) *api.Allocation {
	c.Helper()
	c.keyed()
	c.addNode("n1", nil)
	job := serviceJob("web", 1)
	job.Groups[0].Tasks[0].Identity = &api.Identity{Env: true}
	job.Groups[0].Tasks[0].Identities = []*api.Identity{{Name: "vault", Audience: []string{"vault.io"}, File: true, TTL: time.Hour}}
	c.register(job)
	c.until("the job runs", func(v *state.Snapshot) bool { return len(running(v, "web")) == 1 })
	return running(c.Store().Snapshot(), "web")[0]
}

func TestATaskHasTheRightsOfItsIdentity(t *testing.T) {
	simulate(t, func(c *cluster) {
		a := identified(c)
		task := a.Job.Groups[0].Tasks[0].Name
		sign := func(node string, r api.IdentityRequest) (*api.IdentityResponse, error) {
			return c.SignIdentity(node, &r)
		}
		token, err := sign(a.NodeID, api.IdentityRequest{AllocID: a.ID, Task: task, Identity: "default"})
		if err != nil || token.Expires != 0 {
			t.Fatal(token, err)
		}
		for what, r := range map[string]struct {
			node string
			api.IdentityRequest
		}{
			"another node":       {"n2", api.IdentityRequest{AllocID: a.ID, Task: task, Identity: "default"}},
			"no node":            {"", api.IdentityRequest{AllocID: a.ID, Task: task, Identity: "default"}},
			"another allocation": {a.NodeID, api.IdentityRequest{AllocID: "none", Task: task, Identity: "default"}},
			"a part of its id":   {a.NodeID, api.IdentityRequest{AllocID: a.ID[:8], Task: task, Identity: "default"}},
			"another task":       {a.NodeID, api.IdentityRequest{AllocID: a.ID, Task: "none", Identity: "default"}},
			"another identity":   {a.NodeID, api.IdentityRequest{AllocID: a.ID, Task: task, Identity: "none"}},
		} {
			if token, err := sign(r.node, r.IdentityRequest); api.CodeOf(err) != api.CodeNotFound {
				t.Errorf("%s: %v, %v", what, token, err)
			}
		}
		may := func(token string, capability acl.Capability, path string) bool {
			rights := c.RightsOf(token)
			if rights == nil {
				return false
			}
			if again := c.RightsOfAccessor(rights.Accessor); again == nil || again.Workload == nil || again.Workload.AllocID != a.ID {
				t.Errorf("by its accessor id, the task is %+v", again)
			}
			return rights.ACL.Allows(acl.Question{Capability: capability, Name: "default", Path: path})
		}
		if !may(token.Token, acl.ReadVariables, "nomad/jobs/web") || may(token.Token, acl.ReadVariables, "nomad/jobs/other") || may(token.Token, acl.WriteVariables, "nomad/jobs/web") || may(token.Token, acl.ReadJob, "") {
			t.Error("the task has other rights than to read its variables")
		}
		other, err := sign(a.NodeID, api.IdentityRequest{AllocID: a.ID, Task: task, Identity: "vault"})
		if err != nil || other.Expires != time.Now().Add(time.Hour).UnixNano() {
			t.Fatal(other, err)
		}
		if c.RightsOf(other.Token) != nil {
			t.Error("a token for another service has rights here")
		}

		// Policies of tasks add to these rights, and match exactly.
		put := func(name string, job *api.JobACL) error {
			_, err := c.PutACLPolicy(c.Context(), &api.ACLPolicy{Name: name, JobACL: job, Rules: "namespace \"*\" {\n capabilities = [\"read-job\"]\n}"})
			return err
		}
		for name, job := range map[string]*api.JobACL{
			"prefix": {Namespace: "default", JobID: "we"}, "elsewhere": {Namespace: "dev", JobID: "web"}, "group": {Namespace: "default", JobID: "web", Group: "none"},
		} {
			if err := put(name, job); err != nil {
				t.Fatal(err)
			}
			if may(token.Token, acl.ReadJob, "") {
				t.Errorf("the task has policy %s", name)
			}
		}
		for _, job := range []*api.JobACL{{}, {Namespace: "default", Group: "g"}, {Namespace: "default", JobID: "web", Task: "t"}} {
			if err := put("broken", job); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "JobACL") {
				t.Errorf("%+v: %v", job, err)
			}
		}
		if err := put("matching", &api.JobACL{Namespace: "default", JobID: "web"}); err != nil {
			t.Fatal(err)
		}
		if !may(token.Token, acl.ReadJob, "") || !may(token.Token, acl.ReadVariables, "nomad/jobs/web") {
			t.Error("the task has not the rights of its policy and its own")
		}

		// Tokens of an earlier key remain valid; those of a deleted key do not.
		if _, _, err := c.RotateRootKey(c.Context(), true, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if !may(token.Token, acl.ReadVariables, "nomad/jobs/web") || len(c.KeySet(c.Store().Snapshot()).Keys) != 2 {
			t.Error("after a rotation, the token is not valid")
		}
		c.pass(time.Second)
		for k := range c.Store().Snapshot().RootKeys() {
			if k.State == api.RootKeyInactive {
				if _, err := c.DeleteRootKey(c.Context(), k.KeyID, false); err != nil {
					t.Fatal(err)
				}
			}
		}
		if may(token.Token, acl.ReadVariables, "nomad/jobs/web") {
			t.Error("the token of a deleted key is valid")
		}
		if token, err = sign(a.NodeID, api.IdentityRequest{AllocID: a.ID, Task: task, Identity: "default"}); err != nil || !may(token.Token, acl.ReadVariables, "nomad/jobs/web") {
			t.Fatal(err)
		}
		if _, err := c.DeregisterJob(c.Context(), "default", "web", server.DeregisterOptions{}); err != nil {
			t.Fatal(err)
		}
		c.until("the job has ended", func(v *state.Snapshot) bool { return len(running(v, "web")) == 0 })
		if c.RightsOf(token.Token) != nil {
			t.Error("the identity outlives its allocation")
		}
		if _, err := sign(a.NodeID, api.IdentityRequest{AllocID: a.ID, Task: task, Identity: "default"}); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("the identity of an ended allocation: %v", err)
		}
	})
}
