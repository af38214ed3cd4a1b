// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Explain returns a verdict as a sentence, without the stack's name.
func Explain(v *api.Verdict) string {
	if reason := v.Reason.StatusReason(); reason != 0 {
		return reason.Text()
	}
	switch v.Reason {
	case api.KeptHeld:
		return "held" + by(v.Subject)
	case api.KeptCalled:
		return explainCallers(v)
	case api.KeptShift:
		return "a running shift uses it"
	case api.KeptExposed:
		return fmt.Sprintf("receives the traffic of %s", v.Subject)
	case api.KeptTagged:
		return fmt.Sprintf("has the tag %s", v.Subject)
	case api.KeptObserved:
		return fmt.Sprintf("%s sends requests to it without declaring a dependency", v.Subject)
	case api.KeptIdle:
		return "current target, called recently enough"
	case api.KeptLatest:
		return "among the newest versions"
	case api.KeptCurrent:
		return "its version is not deprecated"
	case api.KeptAlways:
		return "its policy keeps every stack"
	case api.KeptStale:
		return fmt.Sprintf("%s is stale, so callers may be unknown", domainName(v.Subject))
	case api.KeptUnfinished:
		return "not ready yet"
	case api.DeclinedGarbage:
		return "garbage"
	case api.DeclinedFailed:
		return "failed"
	}
	return string(v.Reason)
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func explainCallers(v *api.Verdict) string {
	if v.CallerCount == 1 && len(v.Callers) == 1 {
		return v.Callers[0] + " calls it"
	}
	text := strings.Join(v.Callers, ", ")
	if more := v.CallerCount - len(v.Callers); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " call it"
}

func domainName(domain string) string {
	if domain == "" {
		return "the domain of jobs without a domain"
	}
	return fmt.Sprintf("domain %q", domain)
}

// Reason returns why a stack waits, and the text that completes the reason. Other is that of the promotion.
func (w Wait) Reason(other string) (reason api.Reason, text string) {
	switch w {
	case WaitHealth:
		return api.ReasonStackWaitsHealth, ""
	case WaitShift:
		return api.ReasonStackWaitsShift, api.WaitsShiftText(other)
	case WaitEarlier:
		return api.ReasonStackWaitsEarlier, api.WaitsEarlierText(other)
	}
	return 0, ""
}
