// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// settled is how long a crashed instance must run again until its crash is over,
// unless its update block sets min_healthy_time.
const settled = 10 * time.Second

// HasCrashed reports whether the instance is down because it crashed, or has not
// been up again for long.
func (f *Facts) HasCrashed(in *Instance) bool {
	a := in.Alloc
	switch {
	case in.State == Failed:
		return true
	case in.State == Ended:
		return f.Job != nil && !f.Job.RunsToCompletion()
	case a.Crashes == nil || a.Crashes.Count == 0 || a.IsClientTerminal():
		return false
	case !a.IsUp():
		return true
	}
	window := settled
	if in.Group.Def != nil && in.Group.Def.Update != nil && opt.Of(in.Group.Def.Update.MinHealthyTime) > 0 {
		window = *in.Group.Def.Update.MinHealthyTime
	}
	return f.Now.Before(StartedAt(a).Add(window))
}

// LongestMessage limits foreign text in a message, in runes.
const LongestMessage = 1024

// WhyFailing is a failing check as a sentence.
func WhyFailing(c *api.CheckFailure) string {
	what := fmt.Sprintf("check %q of service %q", c.Check, c.Service)
	if c.Service == "" {
		what = fmt.Sprintf("monitor of task %q", c.Task)
	}
	return strings.TrimSuffix(what+" fails: "+api.Printable(c.Answer, api.CheckAnswerMax), ": ")
}
