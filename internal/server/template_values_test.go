// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestTemplateValuesHaveTheRightsOfTheirTask(t *testing.T) {
	simulate(t, func(c *cluster) {
		a := identified(c)
		task := a.Job.Groups[0].Tasks[0].Name
		for _, path := range []string{"nomad/jobs/web", "nomad/jobs/other", "shop/db"} {
			c.put(variable(path, map[string]string{"x": path}))
		}
		for what, r := range map[string]struct{ node, alloc, task, path, want string }{
			"its own variable":      {a.NodeID, a.ID, task, "nomad/jobs/web", api.TemplatePresent},
			"a missing variable":    {a.NodeID, a.ID, task, "nomad/jobs/web/" + a.Group, api.TemplateAbsent},
			"another job's":         {a.NodeID, a.ID, task, "nomad/jobs/other", api.TemplateForbidden},
			"a variable of no job":  {a.NodeID, a.ID, task, "shop/db", api.TemplateForbidden},
			"another node":          {"n2", a.ID, task, "nomad/jobs/web", api.TemplateForbidden},
			"no node":               {"", a.ID, task, "nomad/jobs/web", api.TemplateForbidden},
			"an unknown allocation": {a.NodeID, "none", task, "nomad/jobs/web", api.TemplateForbidden},
			"a part of its id":      {a.NodeID, a.ID[:8], task, "nomad/jobs/web", api.TemplateForbidden},
			"an unknown task":       {a.NodeID, a.ID, "none", "nomad/jobs/web", api.TemplateForbidden},
		} {
			answer, err := c.TemplateValues(c.Context(), r.node, valuesOf(0, r.alloc, r.task, r.path, ""))
			if err != nil || len(answer.Values) != 1 {
				t.Errorf("%s: %+v, %v", what, answer, err)
				continue
			}
			if v := answer.Values[0]; v.State != r.want || (v.Variable != nil) != (r.want == api.TemplatePresent) {
				t.Errorf("%s: %+v, want %s", what, v, r.want)
			}
		}
	})
}

func valuesOf(wait time.Duration, alloc, task, path, stamp string) *api.TemplateValuesRequest {
	return &api.TemplateValuesRequest{Wait: wait, Tasks: []*api.TemplateTask{{AllocID: alloc, Task: task, Needs: []*api.TemplateNeed{{Kind: api.TemplateVariable, Name: path, Stamp: stamp}}}}}
}

// A request waits for a change of its own value, and leaves nothing behind when its caller ends it.
func TestTemplateValuesWaitForAChange(t *testing.T) {
	simulate(t, func(c *cluster) {
		a := identified(c)
		task, path, stamp := a.Job.Groups[0].Tasks[0].Name, "nomad/jobs/web", api.TemplateAbsent
		for i := range 3 {
			got := make(chan *api.TemplateValuesResponse, 1)
			go func() {
				answer, err := c.TemplateValues(c.Context(), a.NodeID, valuesOf(time.Minute, a.ID, task, path, stamp))
				if err != nil {
					t.Error(err)
				}
				got <- answer
			}()
			c.pass(time.Second)
			c.put(variable("unrelated", map[string]string{"x": "1"}))
			c.pass(time.Second)
			if len(got) > 0 {
				t.Fatal("the request ended without a change of its value")
			}
			c.put(variable(path, map[string]string{"x": fmt.Sprint(i)}))
			answer := <-got
			if len(answer.Values) != 1 || answer.Values[0].Variable == nil || answer.Values[0].Variable.Items["x"] != fmt.Sprint(i) {
				t.Fatalf("after change %d: %+v", i, answer.Values)
			}
			stamp = answer.Values[0].Stamp
		}
		begun := time.Now()
		if answer, err := c.TemplateValues(c.Context(), a.NodeID, valuesOf(time.Minute, a.ID, task, path, stamp)); err != nil || len(answer.Values) > 0 || time.Since(begun) != time.Minute {
			t.Errorf("without a change: %+v, %v after %s", answer, err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(c.Context(), time.Second)
		defer cancel()
		_, _ = c.TemplateValues(ctx, a.NodeID, valuesOf(time.Minute, a.ID, task, path, stamp))
		if waited := time.Since(begun); waited != time.Minute+time.Second {
			t.Errorf("a request whose caller left lasted until %s", waited)
		}
		many := valuesOf(0, a.ID, task, path, "")
		for range api.MaxTemplateNeeds {
			many.Tasks[0].Needs = append(many.Tasks[0].Needs, many.Tasks[0].Needs[0])
		}
		for what, r := range map[string]*api.TemplateValuesRequest{
			"too many needs": many, "no task": {Tasks: []*api.TemplateTask{nil}}, "no need": {Tasks: []*api.TemplateTask{{Needs: []*api.TemplateNeed{nil}}}},
		} {
			if _, err := c.TemplateValues(c.Context(), a.NodeID, r); api.CodeOf(err) != api.CodeInvalid {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
