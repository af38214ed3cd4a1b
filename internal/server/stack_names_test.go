// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

func TestNamesThatMeanOneStackAreEnough(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		old := c.deploy(stackJob("shop", "1.0.0"))[0]
		c.untilStack(old, api.StackReady, time.Minute)
		other := c.deploy(stackJob("shop-db", "1.0.0"))[0]
		c.untilStack(other, api.StackReady, time.Minute)
		next := c.deploy(stackJob("shop", "1.10.0"))[0]
		c.untilStack(next, api.StackReady, time.Minute)
		ended := c.deploy(stackJob("cart", "3.0.0"))[0]
		c.untilStack(ended, api.StackReady, time.Minute)
		if _, err := c.StackVerb(c.Context(), "default", ended, "stop", &api.StackVerbRequest{Now: true}); err != nil {
			t.Fatal(err)
		}
		c.untilStack(ended, api.StackTerminated, time.Minute)

		for _, test := range []struct{ name, want string }{
			{old, old},
			{"shop@1.0.0", old},
			{"shop@1.0", old},
			{"shop@1.10", next},
			{"shop--1-0-", old},
			{"shop--1-10", next},
			{"shop-db", other},
			{"shop-db@1", other},
			{"cart", ended},
			{"cart@3", ended},
			{"shop", `"shop" is ambiguous in namespace default: it can mean ` + next + " (ready), " + old + " (ready); give more of the name"},
			{"shop@1", `"shop@1" is ambiguous`},
			{"shop--1", `"shop--1" is ambiguous`},
			{"shop@2.0.0", `stack "shop@2.0.0" not found in namespace default; did you mean ` + next},
			{"sho", `stack "sho" not found in namespace default; did you mean `},
			{"shop@", `stack "shop@" not found`},
			{"", `stack "" not found in namespace default; list stacks`},
			{"web", `stack "web" not found in namespace default; list stacks`},
			{"@1.0.0", `stack "@1.0.0" not found`},
		} {
			stack, _, err := server.Stack(c.Store().Snapshot(), "default", test.name)
			switch {
			case err == nil && stack.Name != test.want:
				t.Errorf("%q means %s, want %s", test.name, stack.Name, test.want)
			case err != nil && !strings.HasPrefix(err.Error(), test.want):
				t.Errorf("%q: %v, want %s", test.name, err, test.want)
			}
		}
	})
}

func TestAShiftLeadsToTheReadyStackOfAVersion(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		gone := c.deploy(stackJob("shop", "1.0.0"))[0]
		c.untilStack(gone, api.StackReady, time.Minute)
		if _, err := c.StackVerb(c.Context(), "default", gone, "stop", &api.StackVerbRequest{Now: true}); err != nil {
			t.Fatal(err)
		}
		c.untilStack(gone, api.StackTerminated, time.Minute)
		c.untilStack(c.deploy(stackJob("shop", "1.1.0"))[0], api.StackReady, time.Minute)
		again := c.deploy(stackJob("shop", "1.0.0"))[0]
		c.untilStack(again, api.StackReady, time.Minute)
		res, err := c.StartShift(c.Context(), "default", "shop", &api.ShiftRequest{To: "1.0.0", By: "ann"})
		if err != nil || res.Shift.To != again {
			t.Errorf("shift to 1.0.0: %+v, %v, want %s: the earlier stack of the version is terminated", res, err, again)
		}
	})
}

func TestATokenDispatchesOnceFromAUnit(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		version := func(v string) *api.Job {
			job := parameterizedJob("import", api.Parameterized{})
			job.Stack = &api.StackSpec{Version: v}
			return job
		}
		dispatch := func() string {
			res, err := c.DispatchJob(c.Context(), "default", "import", &api.DispatchJobRequest{IdempotencyToken: "monday"})
			if err != nil {
				t.Fatal(err)
			}
			return res.DispatchedJobID
		}
		c.untilStack(c.deploy(version("1.0.0"))[0], api.StackReady, time.Minute)
		first := dispatch()
		c.untilStack(c.deploy(version("1.1.0"))[0], api.StackReady, time.Minute)
		if again := dispatch(); again != first {
			t.Errorf("the token started %s and, after the next version was deployed, %s", first, again)
		}
	})
}
