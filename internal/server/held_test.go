// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// canaryBatch is a batch job that does nothing before an operator continues, calls
// back when it is over, and runs in a pool of its own.
func canaryBatch(id string) *api.Job {
	job := callingJob(id)
	job.NodePool = "held"
	job.Plans = []*api.PlanSpec{{Name: api.PlanDeploy, Strategy: api.StrategySerial, Phases: []*api.PhaseSpec{
		{Name: "work", Group: "work", Strategy: api.StrategySerialCanary},
	}}}
	return job
}

func (c *cluster) verb(job string, verb api.Verb) {
	c.Helper()
	if _, err := c.PlanVerb(c.Context(), "default", job, api.PlanDeploy, verb, nil); err != nil {
		c.Fatalf("%s the plan of %s: %v", verb, job, err)
	}
}

// held waits until the job is held, and checks that nothing takes it for over.
func (c *cluster) held(id, why string) {
	c.Helper()
	c.until("job "+id+" is held", func(s *state.Snapshot) bool { return s.Job("default", id).Held })
	c.pass(5 * time.Hour) // beyond every threshold of garbage collection
	if err := c.CollectGarbage(c.Context()); err != nil {
		c.Fatal(err)
	}
	c.pass(time.Minute)
	job := c.Store().Snapshot().Job("default", id)
	if job == nil {
		c.Fatalf("job %s was collected while it was held", id)
	}
	if job.Status != api.JobStatusRunning || !job.Held || !strings.Contains(job.HeldReason, why) {
		c.Errorf("job %s is %s, held %v (%s); want running, held because of %q", id, job.Status, job.Held, job.HeldReason, why)
	}
	if stub := job.Stub(nil); !stub.Held || stub.HeldReason != job.HeldReason {
		c.Errorf("in lists job %s is held %v (%s)", id, stub.Held, stub.HeldReason)
	}
}

func TestAHeldJobIsNotOver(t *testing.T) {
	r := &receiver{}
	simulateWith(t, r, func(c *cluster) {
		if _, err := c.PutNodePool(c.Context(), &api.NodePool{Name: "held"}); err != nil {
			c.Fatal(err)
		}
		c.register(canaryBatch("import"))
		c.held("import", "canary: waits for continue")
		if _, err := c.DeleteNodePool(c.Context(), "held"); err == nil || !strings.Contains(err.Error(), "import") {
			c.Fatalf("delete the pool of a held job: %v, want an error that names the job", err)
		}
		node := newNode("n1")
		node.NodePool = "held"
		c.connect(node, nil)
		c.verb("import", api.VerbInterrupt)
		c.held("import", "interrupted by")
		c.verb("import", api.VerbContinue) // of the interrupted plan
		c.verb("import", api.VerbContinue) // of the first canary
		c.until("the first has finished", func(s *state.Snapshot) bool {
			return s.JobSummary("default", "import").Summary["work"].Complete == 1
		})
		c.held("import", "canary: waits for continue")
		if n := r.count(); n != 0 {
			c.Fatalf("%d callbacks were made for a job that is not over", n)
		}
		c.verb("import", api.VerbContinue) // of the rest
		c.until("it is over, and told of", func(s *state.Snapshot) bool {
			all := callbacksOf(s, "import")
			return len(all) == 1 && all[0].Status == api.CallbackDelivered
		})
		job := c.Store().Snapshot().Job("default", "import")
		if job.Status != api.JobStatusDead || job.Held || job.HeldReason != "" || r.said[0].State != api.CompletionComplete {
			c.Errorf("in the end the job is %s, held %v (%s), and was told to be %s", job.Status, job.Held, job.HeldReason, r.said[0].State)
		}
	})
}
