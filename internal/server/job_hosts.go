// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// checkHosts rejects a new job whose routes or exposed hosts are names of stacks: routers resolve
// these names themselves, so the job would receive no requests. Stored jobs keep such routes.
func (s *Server) checkHosts(job *api.Job) error {
	zone := "stack." + strings.ToLower(strings.TrimSuffix(s.cfg.Zone, "."))
	var refused []string
	check := func(at, host string) {
		if strings.HasSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), "."+zone) {
			refused = append(refused, fmt.Sprintf("%s: host %q: names below %s lead to stacks, so it would receive no requests; choose another host", at, host, zone))
		}
	}
	for _, g := range job.Groups {
		for i, r := range g.Routes {
			check(fmt.Sprintf("group %q, route %d", g.Name, i+1), r.Host)
		}
	}
	if job.Stack != nil {
		for i, e := range job.Stack.Expose {
			check(fmt.Sprintf("stack, expose %d", i+1), e.Host)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return &api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf("job %q has hosts that are names of stacks", job.ID), Detail: refused}
}
