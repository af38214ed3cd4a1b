// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func validateService(c *complaints, at string, s *Service, ports map[string]bool, g *Group) {
	if s.PortLabel != "" && !knownPort(s.PortLabel, ports) {
		c.add("%s: port %q is not defined; %s", at, s.PortLabel, knownPorts(ports))
	}
	seen := map[string]bool{}
	for _, k := range s.Checks {
		where := fmt.Sprintf("%s, check %q", at, k.Name)
		if seen[k.Name] {
			c.add("%s is defined twice: give each check a name", where)
		}
		seen[k.Name] = true
		validateCheck(c, where, k, s, ports, g)
	}
}

func validateCheck(c *complaints, at string, k *Check, s *Service, ports map[string]bool, g *Group) {
	switch k.Type {
	case CheckHTTP:
		if k.Path == "" {
			c.add("%s: an http check needs a path", at)
		}
		if k.Protocol != "" && k.Protocol != "http" && k.Protocol != "https" {
			c.add("%s: protocol %q: must be http or https", at, k.Protocol)
		}
	case CheckTCP, CheckGRPC:
	case CheckScript:
		if k.Command == "" {
			c.add("%s: a script check needs a command", at)
		}
		if g != nil && (k.TaskName == "" || g.Task(k.TaskName) == nil) {
			c.add("%s: a script check of a group's service needs task, the name of the task to run in", at)
		}
	case "":
		c.add("%s has no type: use http, tcp, grpc or script", at)
	default:
		c.add("%s: type %q: must be http, tcp, grpc or script", at, k.Type)
	}
	if k.Type == CheckHTTP || k.Type == CheckTCP || k.Type == CheckGRPC {
		if k.PortLabel == "" {
			c.add("%s: neither the check nor its service names a port", at)
		} else if k.PortLabel != s.PortLabel && !knownPort(k.PortLabel, ports) {
			c.add("%s: port %q is not defined; %s", at, k.PortLabel, knownPorts(ports))
		}
	}
	validatePace(c, at, k)
	switch k.Kind {
	case "", CheckKindLiveness, CheckKindReadiness:
	default:
		c.add("%s: kind %q: must be %s or %s", at, k.Kind, CheckKindLiveness, CheckKindReadiness)
	}
	if k.StartTimeout > 0 && k.Kind != CheckKindLiveness {
		c.add("%s: start_timeout is for kind %q only: readiness kills nothing", at, CheckKindLiveness)
	}
	switch {
	case k.CheckRestart == nil:
	case k.Kind == CheckKindReadiness:
		c.add("%s: check_restart: a check of kind %q restarts nothing; use kind %q, or no kind", at, CheckKindReadiness, CheckKindLiveness)
	case k.Kind == CheckKindLiveness:
		c.add("%s: check_restart: a check of kind %q restarts its task after failures_before_critical failures in a row; use that", at, CheckKindLiveness)
	}
	if k.Type != CheckGRPC && (k.GRPCService != "" || k.GRPCUseTLS) {
		c.add("%s: grpc_service and grpc_use_tls are for type %q", at, CheckGRPC)
	}
	if r := k.CheckRestart; r != nil && r.Limit < 0 {
		c.add("%s: check_restart: limit %d: must not be negative", at, r.Limit)
	}
}

// validatePace looks at how often a check asks, and how patient it is.
func validatePace(c *complaints, at string, k *Check) {
	if k.Interval < time.Second {
		c.add("%s: interval %s: must be at least 1s", at, k.Interval)
	}
	if k.Timeout < time.Millisecond {
		c.add("%s: timeout %s: must be at least 1ms", at, k.Timeout)
	}
	if k.SuccessBeforePassing < 0 || k.FailuresBeforeCritical < 0 {
		c.add("%s: success_before_passing and failures_before_critical must not be negative", at)
	}
	if k.InitialDelay < 0 || k.StartTimeout < 0 {
		c.add("%s: initial_delay and start_timeout must not be negative", at)
	}
	if k.StartTimeout > 0 && k.StartTimeout <= k.InitialDelay {
		c.add("%s: start_timeout %s: must be more than initial_delay %s", at, k.StartTimeout, k.InitialDelay)
	}
}

func (t *Task) validateMonitor(c *complaints, at string) {
	if t.Monitor.Command == "" {
		c.add("%s: command is missing", at)
	}
	if !t.IsMain() && !t.IsSidecar() || t.Goal != "" && t.Goal != GoalRunning {
		c.add("%s: only a task that keeps running can be monitored", at)
	}
	validatePace(c, at, t.Monitor.Check())
}

// knownPort accepts a label or a number.
func knownPort(label string, ports map[string]bool) bool {
	if ports[label] {
		return true
	}
	n, err := strconv.Atoi(label)
	return err == nil && n > 0 && n < 65536
}

func knownPorts(ports map[string]bool) string {
	if len(ports) == 0 {
		return "the group has no network block with ports"
	}
	names := make([]string, 0, len(ports))
	for p := range ports {
		names = append(names, p)
	}
	slices.Sort(names)
	return "there are: " + strings.Join(names, ", ")
}
