// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// deployFrom deploys stacks from earlier ones.
func (c *cluster) deployFrom(namespace string, sources ...string) (*api.DeployStacksResponse, error) {
	c.Helper()
	return c.DeployStacks(c.Context(), &api.DeployStacksRequest{From: sources, By: "ann"}, namespace)
}

func (c *cluster) putNamespaces(names ...string) {
	c.Helper()
	for _, name := range names {
		if _, err := c.PutNamespace(c.Context(), &api.Namespace{Name: name}, nil); err != nil {
			c.Fatal(err)
		}
	}
}

// exposedJob returns a unit's job with every part that a stack's job changes.
func exposedJob(unit, version string) *api.Job {
	job := stackJob(unit, version)
	job.Stack.Expose = []*api.StackExposure{{Host: unit + ".example.com"}}
	job.Meta = map[string]string{"of": version}
	return job
}

func TestATerminatedVersionIsDeployedAgainFromItsSubmission(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := start(t, server.Config{DataDir: t.TempDir()})
		defer func() { c.close() }()
		c.addNode("n1", nil)
		first := c.deploy(exposedJob("inventory", "1.0.0"))[0]
		c.untilStack(first, api.StackReady, time.Minute)
		submitted := c.Store().Snapshot().StackJob("default", first)

		res, err := c.deployFrom("default", "inventory@1.0.0")
		if err != nil || !res.Existing[0] || res.Stacks[0].Name != first {
			t.Fatalf("deploying the live 1.0.0 from itself: %+v, %v, want the same stack", res, err)
		}
		if _, err := c.StackVerb(c.Context(), "default", first, "stop", &api.StackVerbRequest{Now: true}); err != nil {
			t.Fatal(err)
		}
		c.untilStack(first, api.StackTerminated, time.Hour)
		c.passDown(89 * 24 * time.Hour)
		c.pass(15 * time.Minute) // includes a sweep and a garbage collection

		res, err = c.deployFrom("default", "inventory@1.0.0")
		if err != nil {
			t.Fatalf("deploy 1.0.0 again 89 days after its end: %v", err)
		}
		again := res.Stacks[0]
		if want := "deployed from the submission of " + first; again.StatusText() != want || again.StatusBy != "ann" {
			t.Errorf("the new stack: %q by %q, want %q by ann", again.StatusText(), again.StatusBy, want)
		}
		c.untilStack(again.Name, api.StackReady, time.Minute)
		copied := c.Store().Snapshot().StackJob("default", again.Name).Copy()
		copied.ID, copied.Name = submitted.ID, submitted.Name
		if diff := cmp.Diff(submitted, copied); diff != "" {
			t.Errorf("the job of the new stack differs from the submitted one (-want +got):\n%s", diff)
		}
		same, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{exposedJob("inventory", "1.0.0")}}, "default")
		if err != nil || !same.Existing[0] || same.Stacks[0].Name != again.Name {
			t.Errorf("deploying the same file: %+v, %v, want the stack that was deployed from the submission", same, err)
		}

		c.passDown(2 * 24 * time.Hour)
		c.pass(15 * time.Minute) // includes a sweep and a garbage collection
		_, err = c.deployFrom("default", first)
		if api.CodeOf(err) != api.CodeNotFound || !strings.Contains(err.Error(), "until 90 days after its end") {
			t.Errorf("deploying from a stack that is forgotten: %v, want that it is not found, and how long submissions are kept", err)
		}
	})
}

func TestRedeployMakesASecondStackAndChangesNoOther(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		first := c.deploy(exposedJob("inventory", "1.0.0"))[0]
		other := c.deploy(stackJob("inventory", "2.0.0"))[0]
		c.untilStack(first, api.StackReady, time.Minute)
		c.untilStack(other, api.StackReady, time.Minute)
		before := c.Store().Snapshot().Stack("default", other)
		res, err := c.RedeployStack(c.Context(), "default", first, &api.StackVerbRequest{By: "ann", Reason: "stuck caches"})
		if err != nil {
			t.Fatal(err)
		}
		if s := res.Stack; s.Name == first || s.Version != (api.StackVersion{Major: 1}) || !strings.HasSuffix(s.StatusText(), "stuck caches") || res.Index == 0 {
			t.Errorf("redeploying: %+v at %d, want another stack of 1.0.0 with the reason", s.Stack, res.Index)
		}
		c.untilStack(res.Stack.Name, api.StackReady, time.Minute)
		if diff := cmp.Diff(before, c.Store().Snapshot().Stack("default", other)); diff != "" {
			t.Errorf("a stack of another version changed (-before +after):\n%s", diff)
		}
		if got := len(running(c.Store().Snapshot(), first)); got != 2 {
			t.Errorf("%d instances of the first stack run, want both", got)
		}
	})
}

func TestAVersionIsDeployedFromAnotherNamespace(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.putNamespaces("dev", "prod")
		job := stackJob("inventory", "1.1.0")
		if _, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{job}}, "dev"); err != nil {
			t.Fatal(err)
		}
		res, err := c.deployFrom("prod", "dev:inventory@1.1.0")
		if err != nil {
			t.Fatal(err)
		}
		if s := res.Stacks[0]; s.Namespace != "prod" || !strings.HasSuffix(s.StatusText(), "in namespace dev") {
			t.Errorf("the new stack: namespace %s, %q, want prod, and where it is from", s.Namespace, s.StatusText())
		}
		if job := c.Store().Snapshot().StackJob("prod", res.Stacks[0].Name); job.Namespace != "prod" {
			t.Errorf("its job is in namespace %q", job.Namespace)
		}
	})
}

func TestSourcesThatMeanNoStackAreRefused(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.putNamespaces("prod")
		first := c.deploy(exposedJob("inventory", "1.0.0"))[0]
		c.untilStack(first, api.StackReady, time.Minute)
		changed := exposedJob("inventory", "1.0.0")
		changed.Meta = map[string]string{"of": "a fork"}
		res, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{changed}, Redeploy: true}, "default")
		if err != nil {
			t.Fatal(err)
		}
		second := res.Stacks[0].Name
		count := func() int { return len(slices.Collect(c.Store().Snapshot().Stacks("*"))) }
		before := count()
		for _, k := range []struct {
			namespace, source string
			code              api.ErrorCode
			says              []string
		}{
			{"default", "inventory@1.0.0", api.CodeConflict, []string{"ambiguous", first, second, "name one of them"}},
			{"default", "inventory@9.9.9", api.CodeNotFound, []string{"no stack of version 9.9.9", "only 1.0.0", "90 days"}},
			{"default", "shop@1.0.0", api.CodeNotFound, []string{`unit "shop" has no stacks in namespace default`, "NAMESPACE:shop@1.0.0"}},
			{"prod", "inventory@1.0.0", api.CodeNotFound, []string{"in namespace prod"}},
			{"prod", "default:" + first, api.CodeInvalid, []string{"inventory.example.com", "in namespace default exposes it"}},
			{"default", "inventory--7-0-0--aaaaaaaa", api.CodeNotFound, []string{"90 days", "-status terminated"}},
			{"default", "inventory", api.CodeInvalid, []string{"UNIT@VERSION"}},
			{"default", "inventory@1.0", api.CodeInvalid, []string{"major.minor.patch"}},
			{"default", "inventory@1.0.0@1.0.0", api.CodeInvalid, []string{"major.minor.patch"}},
			{"default", "Inventory@1.0.0", api.CodeInvalid, []string{"unit name"}},
			{"default", ":inventory@1.0.0", api.CodeInvalid, []string{"not the name of a namespace"}},
			{"default", "../x:inventory@1.0.0", api.CodeInvalid, []string{"not the name of a namespace"}},
			{"default", "", api.CodeInvalid, []string{"UNIT@VERSION"}},
			{"default", strings.Repeat("a", 1<<16), api.CodeInvalid, []string{"UNIT@VERSION"}},
		} {
			_, err := c.deployFrom(k.namespace, k.source)
			if api.CodeOf(err) != k.code {
				t.Errorf("deploy from %.40q in %s: %v, want %s", k.source, k.namespace, err, k.code)
				continue
			}
			for _, text := range k.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("deploy from %.40q in %s: %v, want that it says %q", k.source, k.namespace, err, text)
				}
			}
			if len(err.Error()) > 1000 {
				t.Errorf("deploy from %.40q: the error has %d characters", k.source, len(err.Error()))
			}
		}
		if _, err := c.deployFrom("default", first, second); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "occurs twice") {
			t.Errorf("deploying one version twice in a request: %v", err)
		}
		if now := count(); now != before {
			t.Errorf("refused deployments made %d stacks of %d", now, before)
		}
	})
}
