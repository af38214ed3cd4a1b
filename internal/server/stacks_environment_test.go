// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// found returns what the servers noted about the dependencies of a stack's job, by unit.
func (c *cluster) found(stack string) map[string]*api.FoundDependency {
	c.Helper()
	job := c.Store().Snapshot().Job("default", stack)
	if job == nil {
		c.Fatalf("the job of %s is not registered", stack)
	}
	found := make(map[string]*api.FoundDependency)
	for _, d := range job.Stack.Depends {
		found[d.Unit] = d.Found
	}
	return found
}

func TestTheJobOfAStackNotesWhatItsDependenciesWere(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		db := stackJob("db", "2.1.0")
		db.Groups[0].Count = ptr(1)
		db.Groups[0].Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "default", Value: 5432}}}}
		db.Groups[0].Services = []*api.Service{{Name: "db", PortLabel: "default", Provider: "nomad",
			Checks: []*api.Check{{Name: "up", Type: api.CheckTCP, Interval: time.Second, Timeout: time.Second}}}}
		c.untilStack(c.deploy(db)[0], api.StackReady, time.Minute)

		shop := stackJob("shop", "1.0.0", "db@2.1", "inventory@1.0", "search@1.4")
		shop.Stack.Depends[2].Optional = true
		shop.Stack.Depends[2].Found = &api.FoundDependency{Address: "169.254.169.254:80"} // only servers may say this
		names := c.deploy(shop, stackJob("inventory", "1.0.0"))
		c.untilStack(names[0], api.StackReady, time.Minute)
		want := map[string]*api.FoundDependency{"db": {Port: 5432, TCP: true}, "inventory": {}, "search": nil}
		if diff := cmp.Diff(want, c.found(names[0])); diff != "" {
			t.Errorf("dependencies of shop (-want +got):\n%s", diff)
		}

		ran := running(c.Store().Snapshot(), names[0])
		c.untilStack(c.deploy(stackJob("search", "1.4.0"))[0], api.StackReady, time.Minute)
		if _, err := c.ScaleJob(c.Context(), "default", names[0], &api.ScaleJobRequest{Count: ptr(int64(3)), Target: map[string]string{"Group": "web"}}); err != nil {
			t.Fatalf("scale shop: %v", err)
		}
		c.pass(time.Minute)
		if diff := cmp.Diff(want, c.found(names[0])); diff != "" {
			t.Errorf("dependencies of shop after search was deployed and shop was scaled (-want +got):\n%s", diff)
		}
		now := running(c.Store().Snapshot(), names[0])
		if len(now) != 3 {
			t.Errorf("%d instances of shop run, want 3", len(now))
		}
		for _, a := range ran {
			if got := c.Store().Snapshot().Allocation(a.ID); got.IsTerminal() {
				t.Errorf("instance %s ended when a dependency was deployed", a.Name)
			}
		}
	})
}

func TestTwoVersionsOfADependencyAreRefused(t *testing.T) {
	simulate(t, func(c *cluster) {
		_, err := c.DeployStacks(c.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{stackJob("shop", "1.0.0", "my-db@1.0", "my-db@2.0")}}, "default")
		want := `depends "my-db": versions 1.0 and 2.0 both set REEVE_DEP_MY_DB_HOST; remove one of the blocks`
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("two versions of a dependency: %v, want %s", err, want)
		}
	})
}
