// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// complaints collects all errors of a job, so that a user can fix them together.
type complaints []string

func (c *complaints) add(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// err returns the complaints as one error; nil if there are no complaints.
func (c complaints) err(what string) error {
	if len(c) == 0 {
		return nil
	}
	e := Errorf(CodeInvalid, "%s", what)
	e.Detail = c
	return e
}

var jobTypes = []string{JobTypeService, JobTypeBatch, JobTypeSystem, JobTypeSysBatch}

// maxNameLength bounds names, which are parts of paths, variables and addresses.
const maxNameLength = 128

func isJobID(s string) bool { return isName(s, "") }

func isTaskName(s string) bool { return isName(s, `/\`) }

func isName(s, without string) bool {
	return s != "" && len(s) <= maxNameLength && !strings.ContainsAny(s, without) &&
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

func isPortLabel(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// maxInstances bounds a job's total count.
const maxInstances = 50000

// Validate returns all errors of a canonicalized job as one *Error of CodeInvalid with a
// sentence for each; nil if the job is valid. It does not check whether Reeve supports every
// field: see Unsupported.
func (j *Job) Validate() error {
	var c complaints
	j.validate(&c)
	if len(c) == 0 {
		return nil
	}
	name := j.ID
	if name == "" {
		name = "(without an ID)"
	}
	e := Errorf(CodeInvalid, "job %s is not valid", name)
	e.Detail = c
	return e
}

func (j *Job) validate(c *complaints) {
	switch {
	case j.ID == "":
		c.add("the job has no ID: give it a name, as in job \"web\" { ... }")
	case !isJobID(j.ID):
		c.add("job ID %q: must be 1 to 128 characters without white space", j.ID)
	}
	if !IsNamespaceName(j.Namespace) {
		c.add("namespace %q: %s", j.Namespace, namespaceNameRule)
	}
	if !slices.Contains(jobTypes, j.Type) {
		c.add("type %q: must be one of %s", j.Type, strings.Join(jobTypes, ", "))
	}
	if j.Priority < JobPriorityMin || j.Priority > JobPriorityMax {
		c.add("priority %d: must be between %d and %d", j.Priority, JobPriorityMin, JobPriorityMax)
	}
	for _, dc := range j.Datacenters {
		if dc == "" {
			c.add("datacenters: an entry is empty")
		} else if _, err := path.Match(dc, ""); err != nil {
			c.add("datacenters: %q is not a pattern: close every [", dc)
		}
	}
	validateConstraints(c, "job", j.Constraints)
	validateAffinities(c, "job", j.Affinities)
	validateSpreads(c, "job", j.Spreads)
	j.validateStarts(c)
	c.checkDomain("domain", j.Domain)
	if len(j.Annotation) > MaxAnnotation {
		c.add("annotation: has %d bytes, more than %d", len(j.Annotation), MaxAnnotation)
	}
	j.validateRoutes(c)
	j.validateNumbers(c)
	if len(j.Groups) == 0 {
		c.add("the job has no group: it needs at least one, with at least one task")
	}
	seen, total := map[string]bool{}, 0
	for i, g := range j.Groups {
		if g == nil {
			c.add("group %d is null", i+1)
			continue
		}
		if seen[g.Name] && g.Name != "" {
			c.add("group %q is defined twice", g.Name)
		}
		seen[g.Name] = true
		total = min(total+min(max(g.Size(), 0), maxInstances+1), maxNumber)
		g.validate(c, j, i)
	}
	for _, p := range slices.Concat(j.BatchProblems(), j.LifecycleProblems(), j.PlanProblems(), j.StackProblems()) {
		c.add("%s", p.Text)
	}
	if total > maxInstances {
		c.add("the groups' counts add up to %d; at most %d are allowed in one job", total, maxInstances)
	}
}

func (g *Group) validate(c *complaints, j *Job, i int) {
	at := fmt.Sprintf("group %q", g.Name)
	if g.Name == "" {
		at = fmt.Sprintf("group %d", i+1)
		c.add("%s has no name", at)
	} else if !isTaskName(g.Name) {
		c.add("%s: a name must be 1 to 128 characters without white space or slashes", at)
	}
	if g.Size() < 0 {
		c.add("%s: count %d: must not be negative", at, g.Size())
	}
	if j.RunsOnEveryNode() && g.Size() > 1 {
		c.add("%s: count %d: a %s job runs once on every node: leave count out, or set it to 0 to run it nowhere", at, g.Size(), j.Type)
	}
	validateConstraints(c, at, g.Constraints)
	validateAffinities(c, at, g.Affinities)
	validateSpreads(c, at, g.Spreads)
	validateUpdate(c, at, g.Update)
	if u := g.Update; u != nil && u.Canary != nil && *u.Canary > 100 && j.RunsOnEveryNode() {
		c.add("%s: update: canary %d: of a %s job it is a share of its nodes in percent, at most 100", at, *u.Canary, j.Type)
	}
	validateRestart(c, at, g.Restart)
	validateReschedule(c, at, g.Reschedule)
	g.validateDisconnect(c, at)
	g.validateRecovery(c, j, at)
	if d := g.EphemeralDisk; d != nil && d.SizeMB != nil && *d.SizeMB < 10 {
		c.add("%s: ephemeral_disk size %d MB: must be at least 10", at, *d.SizeMB)
	}
	if s := g.Scaling; s != nil {
		if s.Max == nil {
			c.add("%s: scaling: max is missing", at)
		} else if s.Min != nil && *s.Min > *s.Max {
			c.add("%s: scaling: min %d is greater than max %d", at, *s.Min, *s.Max)
		} else if s.Min != nil && (int64(g.Size()) > *s.Max || int64(g.Size()) < *s.Min) {
			c.add("%s: count %d is outside the scaling block's bounds %d to %d", at, g.Size(), *s.Min, *s.Max)
		}
		if s.Min != nil && *s.Min < 0 {
			c.add("%s: scaling: min %d: must not be negative", at, *s.Min)
		}
		if s.Type != ScalingHorizontal {
			c.add("%s: scaling: type %q: a group's scaling is %q", at, s.Type, ScalingHorizontal)
		}
	}
	if len(g.Networks) > 1 {
		c.add("%s: only one network block is allowed", at)
	}
	g.validateNetworks(c, at)
	ports := g.validatePorts(c, at)
	if len(g.Tasks) == 0 {
		c.add("%s has no task", at)
	}
	seen, leaders := map[string]bool{}, 0
	for k, t := range g.Tasks {
		if t == nil {
			c.add("%s: task %d is null", at, k+1)
			continue
		}
		if seen[t.Name] && t.Name != "" {
			c.add("%s: task %q is defined twice", at, t.Name)
		}
		seen[t.Name] = true
		if t.Leader {
			leaders++
		}
		t.validateLogs(c, fmt.Sprintf("%s, task %q", at, t.Name), g.EphemeralDisk)
		t.validate(c, fmt.Sprintf("%s, task %q", at, t.Name), ports)
		t.validateRolling(c, fmt.Sprintf("%s, task %q", at, t.Name), j)
		if t.ResultFile != "" && (t.Goal == GoalRunning || t.Goal == "" && (t.IsSidecar() || t.IsMain() && !j.RunsToCompletion())) {
			c.add("%s, task %q: result_file %q: only a task that ends has a result: make the job a batch job, or set goal to finish or once", at, t.Name, t.ResultFile)
		}
	}
	if leaders > 1 {
		c.add("%s: %d tasks are leader; at most one may be", at, leaders)
	}
	if !slices.ContainsFunc(g.Tasks, func(t *Task) bool { return t != nil && t.IsMain() }) && len(g.Tasks) > 0 {
		c.add("%s has only lifecycle tasks: at least one must be a main task, without a lifecycle block", at)
	}
	g.validateMetricTags(c, at)
	g.validateVolumes(c, j, at)
	for _, s := range g.Services {
		validateService(c, fmt.Sprintf("%s, service %q", at, s.Name), s, ports, g)
	}
}

func (t *Task) validate(c *complaints, at string, ports map[string]bool) {
	if t.Name == "" {
		c.add("%s has no name", at)
	} else if !isTaskName(t.Name) || t.Name == "alloc" || strings.HasPrefix(t.Name, ".") {
		c.add("%s: a name must be 1 to 128 characters without white space or slashes, not start with a dot, and not be \"alloc\"", at)
	}
	if t.Driver == "" {
		c.add("%s has no driver", at)
	}
	t.validateIdentities(c, at)
	t.validateArtifacts(c, at)
	t.validateActions(c, at)
	t.validateSecrets(c, at)
	t.validateTemplates(c, at)
	if t.Goal != "" && t.Goal != GoalRunning && t.Goal != GoalFinish && t.Goal != GoalOnce {
		c.add("%s: goal %q: must be %s, %s or %s", at, t.Goal, GoalRunning, GoalFinish, GoalOnce)
	}
	for _, problem := range DriverConfigProblems(t.Driver, t.Config) {
		c.add("%s: config: %s", at, problem)
	}
	t.checkPortMap(c, at, ports)
	if l := t.Lifecycle; l != nil && !slices.Contains([]string{HookPrestart, HookPoststart, HookPoststop}, l.Hook) {
		c.add("%s: lifecycle hook %q: must be prestart, poststart or poststop", at, l.Hook)
	}
	if t.Leader && !t.IsMain() {
		c.add("%s: a lifecycle task cannot be leader", at)
	}
	if t.KillTimeout != nil && *t.KillTimeout < 0 {
		c.add("%s: kill_timeout %s: must not be negative", at, *t.KillTimeout)
	}
	if t.ShutdownDelay < 0 {
		c.add("%s: shutdown_delay %s: must not be negative", at, t.ShutdownDelay)
	}
	if t.KillSignal != "" && !slices.Contains(signals, t.KillSignal) {
		c.add("%s: kill_signal %q is not a signal: use a name such as SIGTERM", at, t.KillSignal)
	}
	if f := t.ResultFile; f != "" && !filepath.IsLocal(f) {
		c.add("%s: result_file %q: must be a path within the task's directory, such as local/result.json", at, f)
	}
	if t.Monitor != nil {
		t.validateMonitor(c, at+", monitor")
	}
	validateConstraints(c, at, t.Constraints)
	validateAffinities(c, at, t.Affinities)
	validateRestart(c, at, t.Restart)
	if r := t.Resources; r != nil {
		if r.Cores != nil && *r.Cores < 0 {
			c.add("%s: resources: cores %d: must not be negative", at, *r.Cores)
		}
		if r.CPU != nil && *r.CPU < 1 && (r.Cores == nil || *r.Cores == 0) {
			c.add("%s: resources: cpu %d: must be at least 1 MHz", at, *r.CPU)
		}
		if r.CPU != nil && *r.CPU > 0 && r.Cores != nil && *r.Cores > 0 {
			c.add("%s: resources: give either cpu or cores, not both", at)
		}
		validateDevices(c, at+": resources", r.Devices)
		if r.MemoryMB != nil && *r.MemoryMB < 10 {
			c.add("%s: resources: memory %d MB: must be at least 10", at, *r.MemoryMB)
		}
		if s := r.SecretsMB; s != nil && (*s < 0 || *s > MaxSecretsMB) {
			c.add("%s: resources: secrets %d MB: must be 0 to %d", at, *s, MaxSecretsMB)
		}
		if most := r.MemoryMaxMB; most != nil && *most != 0 && *most != MemoryUnlimited && r.MemoryMB != nil && *most < *r.MemoryMB {
			c.add("%s: resources: memory_max %d MB is less than memory %d MB; -1 is no limit", at, *most, *r.MemoryMB)
		}
	}
	for k := range t.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") {
			c.add("%s: env: %q is not a variable's name", at, k)
		}
	}
	for _, s := range t.Services {
		validateService(c, fmt.Sprintf("%s, service %q", at, s.Name), s, ports, nil)
	}
}

var signals = []string{
	"SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGKILL",
	"SIGPIPE", "SIGPROF", "SIGQUIT", "SIGSEGV", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN",
	"SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
}

func validateUpdate(c *complaints, at string, u *Update) {
	if u == nil {
		return
	}
	negative := func(name string, d *time.Duration) bool {
		if d != nil && *d < 0 {
			c.add("%s: update: %s %s: must not be negative", at, name, *d)
			return true
		}
		return false
	}
	if u.MaxParallel != nil && *u.MaxParallel < 0 {
		c.add("%s: update: max_parallel %d: must not be negative", at, *u.MaxParallel)
	}
	if p := u.MaxParallelPercent; p != nil && (*p < 1 || *p > 100) {
		c.add("%s: update: max_parallel %d%%: a share must be from 1%% to 100%%", at, *p)
	}
	if u.Canary != nil && *u.Canary < 0 {
		c.add("%s: update: canary %d: must not be negative", at, *u.Canary)
	}
	if h := u.HealthCheck; h != nil && *h != HealthCheckChecks && *h != HealthCheckTaskStates && *h != HealthCheckManual {
		c.add("%s: update: health_check %q: must be checks, task_states or manual", at, *h)
	}
	if negative("min_healthy_time", u.MinHealthyTime) || negative("healthy_deadline", u.HealthyDeadline) || negative("progress_deadline", u.ProgressDeadline) {
		return
	}
	if u.MinHealthyTime != nil && u.HealthyDeadline != nil && *u.MinHealthyTime >= *u.HealthyDeadline {
		c.add("%s: update: min_healthy_time %s must be less than healthy_deadline %s", at, *u.MinHealthyTime, *u.HealthyDeadline)
	}
	if u.HealthyDeadline != nil && u.ProgressDeadline != nil && *u.ProgressDeadline != 0 && *u.HealthyDeadline >= *u.ProgressDeadline {
		c.add("%s: update: healthy_deadline %s must be less than progress_deadline %s", at, *u.HealthyDeadline, *u.ProgressDeadline)
	}
	if u.AutoPromote != nil && *u.AutoPromote && (u.Canary == nil || *u.Canary == 0) {
		c.add("%s: update: auto_promote needs canary to be above 0", at)
	}
}

func (g *Group) validateRecovery(c *complaints, j *Job, at string) {
	r := g.Recovery
	switch {
	case r == nil:
	case j.Type != JobTypeService && j.Type != JobTypeBatch:
		c.add("%s: recovery: the instances of a %s job stay on their nodes anyway", at, j.Type)
	case r.PermanentAfter == nil:
		c.add("%s: recovery: permanent_after is missing: how long an instance is recovered on its own node", at)
	case *r.PermanentAfter < 0:
		c.add("%s: recovery: permanent_after %s: must not be negative", at, *r.PermanentAfter)
	}
}

func validateRestart(c *complaints, at string, r *Restart) {
	if r == nil {
		return
	}
	if r.Mode != nil && *r.Mode != RestartModeFail && *r.Mode != RestartModeDelay {
		c.add("%s: restart: mode %q: must be fail or delay", at, *r.Mode)
	}
	if r.Attempts != nil && *r.Attempts < 0 {
		c.add("%s: restart: attempts %d: must not be negative", at, *r.Attempts)
	}
	if r.Delay != nil && *r.Delay < 0 {
		c.add("%s: restart: delay %s: must not be negative", at, *r.Delay)
	}
	if f := r.DelayFunction; f != nil && !slices.Contains([]string{DelayConstant, DelayExponential, DelayFibonacci}, *f) {
		c.add("%s: restart: delay_function %q: must be constant, exponential or fibonacci", at, *f)
	}
	switch {
	case r.MaxDelay == nil:
	case *r.MaxDelay < 0:
		c.add("%s: restart: max_delay %s: must not be negative", at, *r.MaxDelay)
	case r.Delay != nil && *r.MaxDelay < *r.Delay:
		c.add("%s: restart: max_delay %s is less than the delay of %s, which it limits", at, *r.MaxDelay, *r.Delay)
	}
	switch i := r.Immediate; {
	case i == nil:
	case *i < 0:
		c.add("%s: restart: immediate %d: must not be negative", at, *i)
	case r.Attempts != nil && *i > *r.Attempts && (r.Mode == nil || *r.Mode != RestartModeDelay):
		c.add("%s: restart: immediate %d is more than the %d attempts in all: raise attempts", at, *i, *r.Attempts)
	}
	if r.ResetAfter != nil { // attempts count since the task was last healthy: the interval is unused
		if *r.ResetAfter <= 0 {
			c.add("%s: restart: reset_after %s: must be positive: how long the task must be well for its restarts to be forgotten", at, *r.ResetAfter)
		}
		if r.Mode != nil && *r.Mode == RestartModeDelay {
			c.add("%s: restart: mode delay waits for the end of the interval, which has no say with reset_after: raise attempts, or leave out one of the two", at)
		}
		return
	}
	if r.Interval != nil && r.Attempts != nil && *r.Attempts > 0 {
		if *r.Interval < 5*time.Second {
			c.add("%s: restart: interval %s: must be at least 5s", at, *r.Interval)
		} else if r.grows() && !r.fits() {
			c.add("%s: restart: the delays of %d attempts never fit into an interval of %s: raise it, or use reset_after in its place", at, *r.Attempts, *r.Interval)
		} else if !r.fits() {
			c.add("%s: restart: %d attempts with a delay of %s never fit into an interval of %s", at, *r.Attempts, *r.Delay, *r.Interval)
		}
	}
}

func validateReschedule(c *complaints, at string, r *Reschedule) {
	if r == nil || r.Attempts == nil || r.Unlimited == nil {
		return
	}
	if i := r.Immediate; i != nil && *i < 0 {
		c.add("%s: reschedule: immediate %d: must not be negative", at, *i)
	} else if i != nil && *i > *r.Attempts && !*r.Unlimited {
		c.add("%s: reschedule: immediate %d is more than the %d attempts in all: raise attempts, or set unlimited", at, *i, *r.Attempts)
	}
	if *r.Attempts < 0 {
		c.add("%s: reschedule: attempts %d: must not be negative", at, *r.Attempts)
	}
	if *r.Attempts == 0 && !*r.Unlimited {
		return
	}
	if r.Delay != nil && *r.Delay < 0 {
		c.add("%s: reschedule: delay %s: must not be negative", at, *r.Delay)
	}
	if !*r.Unlimited && r.Interval != nil && *r.Interval <= 0 {
		c.add("%s: reschedule: a limited number of attempts needs an interval", at)
	}
	if f := r.DelayFunction; f != nil && !slices.Contains([]string{DelayConstant, DelayExponential, DelayFibonacci}, *f) {
		c.add("%s: reschedule: delay_function %q: must be constant, exponential or fibonacci", at, *f)
	}
}
