// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"errors"
	"fmt"
	"time"

	protocol "github.com/mholt/acmez/v3/acme"

	"github.com/reeve-run/reeve/api"
)

// pauses are those after one failure, two failures in a row and so on. Let's Encrypt permits five
// failed validations of a host per hour, and an attempt may fail by both types of challenges.
var pauses = []time.Duration{10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour}

// limitedPause is the shortest pause after the authority limited the requests.
const limitedPause = time.Hour

// unreachablePause is the first pause after a failure that no limit of the authority counts.
const unreachablePause = time.Minute

// pauseAfter returns the pause after the n-th failure in a row, from 1.
func pauseAfter(err error, n int) time.Duration {
	var problem protocol.Problem
	if !errors.As(err, &problem) {
		return min(unreachablePause<<min(max(n-1, 0), 10), time.Hour)
	}
	pause := pauses[min(max(n, 1), len(pauses))-1]
	if problem.Type == protocol.ProblemTypeRateLimited {
		pause = max(pause, limitedPause)
	}
	return pause
}

// maxDetail bounds the text of an authority in messages.
const maxDetail = 300

// explain returns the cause of a failed order and the next step.
func (c *Config) explain(domain string, err error) string {
	var problem protocol.Problem
	if !errors.As(err, &problem) {
		return fmt.Sprintf("the authority %s cannot be used: %s: check that this machine reaches it, and ca_file", c.Directory, api.Printable(err.Error(), maxDetail))
	}
	return fmt.Sprintf("the authority refuses: %s: %s", api.Printable(problem.Detail, maxDetail), advise(problem.Type, domain))
}

func advise(kind, domain string) string {
	switch kind {
	case protocol.ProblemTypeConnection:
		return fmt.Sprintf("let the DNS record of %s point to the routers (see it with: dig %s), and let its port 80 or 443 reach their address of HTTP or HTTPS", domain, domain)
	case protocol.ProblemTypeDNS:
		return fmt.Sprintf("let the DNS record of %s point to the routers; see it with: dig %s", domain, domain)
	case protocol.ProblemTypeUnauthorized, protocol.ProblemTypeIncorrectResponse, protocol.ProblemTypeTLS:
		return fmt.Sprintf("another server answers for %s: let its DNS record point to the routers only; see it with: dig %s", domain, domain)
	case protocol.ProblemTypeRateLimited:
		return "wait, and use the authority's staging directory for experiments"
	case protocol.ProblemTypeServerInternal:
		return "wait: the authority reports a failure of its own"
	case protocol.ProblemTypeCAA:
		return fmt.Sprintf("permit the authority in the CAA record; see it with: dig %s CAA", domain)
	case protocol.ProblemTypeRejectedIdentifier, protocol.ProblemTypeUnsupportedIdentifier:
		return fmt.Sprintf("remove %s from domains, or use another authority", domain)
	case protocol.ProblemTypeExternalAccountRequired:
		return "use an authority without external accounts"
	case protocol.ProblemTypeInvalidContact, protocol.ProblemTypeUnsupportedContact:
		return "set email to an address that the authority accepts"
	case protocol.ProblemTypeUserActionRequired:
		return "read its terms of service"
	}
	return "see the documentation of the authority"
}

// hint returns the command that makes all routers try again now.
func (c *Config) hint(domain string) string {
	return fmt.Sprintf("try now with: reeve var put -namespace %s -merge %s retry_at=now", c.Namespace, c.pathOf(domain))
}
