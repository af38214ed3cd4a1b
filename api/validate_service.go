// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func validateService(c *complaints, at string, s *Service, ports map[string]bool, g *Group) {
	if s.Name != "" && !strings.Contains(s.Name, "${") && !isHostName(strings.ToLower(s.Name)) {
		c.add("%s: name %q: must be letters, digits, - and _, at most 63 of them: it is part of a host name", at, s.Name)
	}
	if w := s.Weights; w != nil && (w.Passing < 0 || w.Warning < 0) {
		c.add("%s: weights: passing and warning must not be negative", at)
	}
	if s.PortLabel != "" && !knownPort(s.PortLabel, ports) {
		c.add("%s: port %q is not defined; %s", at, s.PortLabel, knownPorts(ports))
	}
	seen := map[string]bool{}
	for i, k := range s.Checks {
		if k == nil {
			c.add("%s, check %d is null", at, i+1)
			continue
		}
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
		validateRequest(c, at, k)
	case CheckTCP, CheckGRPC:
	case CheckScript:
		if k.Command == "" {
			c.add("%s: a script check needs a command", at)
		}
		if g != nil && k.TaskName == "" {
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
	if g != nil && k.TaskName != "" && g.Task(k.TaskName) == nil {
		c.add("%s: task %q: the group has no such task", at, k.TaskName)
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
	if r := k.CheckRestart; r != nil && r.Grace != nil && *r.Grace < 0 {
		c.add("%s: check_restart: grace %s: must not be negative", at, *r.Grace)
	}
	if k.OnUpdate != "" && !slices.Contains(checkUpdates, k.OnUpdate) {
		c.add("%s: on_update %q: must be %s", at, k.OnUpdate, strings.Join(checkUpdates, ", "))
	}
	if k.InitialStatus != "" && !slices.Contains(initialStatuses, k.InitialStatus) {
		c.add("%s: initial_status %q: must be %s", at, k.InitialStatus, strings.Join(initialStatuses, ", "))
	}
}

var (
	checkUpdates    = []string{"require_healthy", "ignore_warnings", "ignore"}
	initialStatuses = []string{"passing", "warning", "critical"}
)

// validateRequest checks the request of an http check, except for parts with variables.
func validateRequest(c *complaints, at string, k *Check) {
	if _, err := url.ParseRequestURI("/" + strings.TrimPrefix(k.Path, "/")); err != nil && !strings.Contains(k.Path, "${") {
		c.add("%s: path %q: is no path of a URL: escape what may not be in one, as in %%20", at, k.Path)
	}
	if k.Method != "" && !isToken(k.Method) {
		c.add("%s: method %q: must be the name of an HTTP method, such as HEAD", at, k.Method)
	}
	for _, name := range slices.Sorted(maps.Keys(k.Header)) {
		if !isToken(name) {
			c.add("%s: header %q: is not the name of a header", at, name)
		}
	}
}

// isToken reports whether the text is a token in HTTP.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// validatePace checks the intervals and thresholds of a check.
func validatePace(c *complaints, at string, k *Check) {
	if k.Interval < time.Second {
		c.add("%s: interval %s: must be at least 1s", at, k.Interval)
	}
	if k.Timeout < time.Millisecond {
		c.add("%s: timeout %s: must be at least 1ms", at, k.Timeout)
	}
	if k.FailuresBeforeWarning < 0 {
		c.add("%s: failures_before_warning %d: must not be negative", at, k.FailuresBeforeWarning)
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

// knownPort reports whether label is a defined port or a port number.
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
