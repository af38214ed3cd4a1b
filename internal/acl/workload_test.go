// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"strings"
	"testing"
)

func TestRightsOfTasks(t *testing.T) {
	plain := func(path string) bool { return !strings.ContainsAny(path, "*\" .") }
	own := New(OfTask("dev", "web", "g", "main", plain))
	all := parse(t, "all", "namespace \"*\" {\n variables {\n path \"shared/*\" { capabilities = [\"read\"] }\n }\n}")
	denying := parse(t, "denying", "namespace \"dev\" {\n variables {\n path \"nomad/jobs/web\" { capabilities = [\"deny\"] }\n }\n}")
	for what, c := range map[string]struct {
		acl  *ACL
		q    Question
		want bool
	}{
		"its job":               {own, Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/web"}, true},
		"all jobs' variable":    {own, Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs"}, true},
		"its task":              {own, Question{Capability: ListVariables, Name: "dev", Path: "nomad/jobs/web/g/main"}, true},
		"another task":          {own, Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/web/g/other"}, false},
		"a job with its prefix": {own, Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/web2"}, false},
		"below its task":        {own, Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/web/g/main/x"}, false},
		"another namespace":     {own, Question{Capability: ReadVariables, Name: "default", Path: "nomad/jobs/web"}, false},
		"a write":               {own, Question{Capability: WriteVariables, Name: "dev", Path: "nomad/jobs/web"}, false},
		"a job":                 {own, Question{Capability: ReadJob, Name: "dev"}, false},
		"beside a policy":       {NewBesides(own, all), Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/web"}, true},
		"of the policy":         {NewBesides(own, all), Question{Capability: ReadVariables, Name: "dev", Path: "shared/a"}, true},
		"of neither":            {NewBesides(own, all), Question{Capability: ReadVariables, Name: "dev", Path: "other"}, false},
		"a denying policy":      {NewBesides(own, denying), Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/web"}, false},
		"beside a denial":       {NewBesides(own, denying), Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/web/g"}, true},
	} {
		if got := c.acl.Allows(c.q); got != c.want {
			t.Errorf("%s: %t, want %t", what, got, c.want)
		}
		if d := c.acl.Explain(c.q); d.Allowed != c.want || d.Reason == "" {
			t.Errorf("%s is explained with %+v", what, d)
		}
		if c.want && !c.acl.AllowsAnywhere(c.q.Capability) {
			t.Errorf("%s is allowed nowhere", what)
		}
	}
	// A job's name must not become a pattern or end the rule.
	for _, job := range []string{"*", "a\" { capabilities = [\"write\"] } path \"*", "a b"} {
		hostile := New(OfTask("dev", job, "g", "t", plain))
		if hostile.Allows(Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs/other"}) || hostile.AllowsAnywhere(WriteVariables) {
			t.Errorf("job %q may read another's variables", job)
		}
		if !hostile.Allows(Question{Capability: ReadVariables, Name: "dev", Path: "nomad/jobs"}) {
			t.Errorf("job %q may not read the variable of all jobs", job)
		}
	}
}
