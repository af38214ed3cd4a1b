// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"reflect"
	"time"
)

// Canonicalize sets all unset fields to their defaults, so that other code need not know
// the defaults. It is idempotent.
func (j *Job) Canonicalize() {
	setDefault(&j.Region, "global")
	setDefault(&j.Namespace, DefaultNamespace)
	setDefault(&j.ID, j.Name)
	setDefault(&j.Name, j.ID)
	setDefault(&j.Type, JobTypeService)
	setDefault(&j.Priority, JobPriorityDefault)
	setDefault(&j.NodePool, NodePoolDefault)
	if len(j.Datacenters) == 0 {
		j.Datacenters = []string{"*"}
	}
	canonicalizeConstraints(j.Constraints, j.Affinities, j.Spreads)
	if p := j.Periodic; p != nil {
		setPointer(&p.Enabled, true)
		setPointer(&p.ProhibitOverlap, false)
		setDefault(&p.SpecType, "cron")
		setDefault(&p.TimeZone, "UTC")
	}
	if p := j.Parameterized; p != nil {
		setDefault(&p.Payload, PayloadOptional)
	}
	if j.RunsToCompletion() {
		j.Update = nil
	} else {
		j.Update = mergeUpdate(j.Update, nil)
	}
	canonicalizePlans(j.Plans)
	for _, g := range j.Groups {
		g.canonicalize(j)
	}
}

func (g *Group) canonicalize(j *Job) {
	if g.Count == nil {
		n := 1
		if g.Scaling != nil && g.Scaling.Min != nil {
			n = int(*g.Scaling.Min)
		}
		g.Count = &n
	}
	canonicalizeConstraints(g.Constraints, g.Affinities, g.Spreads)
	if j.RunsToCompletion() {
		g.Update = nil
	} else {
		g.Update = mergeUpdate(g.Update, j.Update)
	}
	g.Restart = merge(g.Restart, defaultRestart(j.Type))
	g.Reschedule = mergeReschedule(g.Reschedule, j.Reschedule)
	g.Reschedule = mergeReschedule(g.Reschedule, defaultReschedule(j.Type, g.Reschedule != nil))
	if j.Type == JobTypeService {
		g.Migrate = merge(merge(g.Migrate, j.Migrate), defaultMigrate())
	} else {
		g.Migrate = nil
	}
	g.canonicalizeDisconnect()
	if g.EphemeralDisk == nil {
		g.EphemeralDisk = &EphemeralDisk{}
	}
	setPointer(&g.EphemeralDisk.Sticky, false)
	setPointer(&g.EphemeralDisk.Migrate, false)
	setPointer(&g.EphemeralDisk.SizeMB, 300)
	for _, n := range g.Networks {
		n.canonicalize()
	}
	if s := g.Scaling; s != nil {
		setDefault(&s.Type, ScalingHorizontal)
		setPointer(&s.Enabled, true)
		setPointer(&s.Min, int64(*g.Count))
		s.Namespace = j.Namespace
		s.Target = map[string]string{"Namespace": j.Namespace, "Job": j.ID, "Group": g.Name}
	}
	canonicalizeServices(g.Services, "")
	for _, r := range g.Routes {
		if r != nil {
			r.canonicalize()
		}
	}
	for _, t := range g.Tasks {
		t.canonicalize(j, g)
	}
}

func (t *Task) canonicalize(j *Job, g *Group) {
	canonicalizeConstraints(t.Constraints, t.Affinities, nil)
	t.Restart = merge(t.Restart, g.Restart)
	setPointer(&t.KillTimeout, 5*time.Second)
	if t.Logs == nil {
		t.Logs = &Logs{}
	}
	setPointer(&t.Logs.MaxFiles, 10)
	setPointer(&t.Logs.MaxFileSizeMB, 10)
	setPointer(&t.Logs.Disabled, t.Logs.Enabled != nil && !*t.Logs.Enabled)
	t.Logs.Enabled = nil
	if t.Resources == nil {
		t.Resources = &Resources{}
	}
	r := t.Resources
	setPointer(&r.Cores, 0)
	if *r.Cores == 0 {
		setPointer(&r.CPU, 100)
	} else {
		setPointer(&r.CPU, 0)
	}
	for _, d := range r.Devices {
		if d != nil {
			setPointer(&d.Count, 1)
			canonicalizeConstraints(d.Constraints, d.Affinities, nil)
		}
	}
	setPointer(&r.MemoryMB, 300)
	setPointer(&r.MemoryMaxMB, 0)
	for _, n := range r.Networks {
		n.canonicalize()
	}
	for _, tpl := range t.Templates {
		if tpl != nil {
			setDefault(&tpl.ChangeMode, t.defaultChangeMode(j, g))
			tpl.canonicalize()
		}
	}
	canonicalizeServices(t.Services, t.Name)
	if m := t.Monitor; m != nil {
		setDefault(&m.Interval, 30*time.Second)
		setDefault(&m.Timeout, 5*time.Second)
	}
}

func (n *Network) canonicalize() {
	setDefault(&n.Mode, "host")
	for _, ports := range [][]Port{n.ReservedPorts, n.DynamicPorts} {
		for i := range ports {
			setDefault(&ports[i].HostNetwork, "default")
		}
	}
}

// defaultChangeMode returns what follows a change of a template whose job file does not say it.
func (t *Task) defaultChangeMode(j *Job, g *Group) string {
	if j.Type == JobTypeService && *g.Count > 1 && t.canRoll(j) {
		return TemplateRolling
	}
	return TemplateRestart
}

func (t *Template) canonicalize() {
	setDefault(&t.Perms, "0644")
	setDefault(&t.LeftDelim, "{{")
	setDefault(&t.RightDelim, "}}")
	setPointer(&t.Splay, 5*time.Second)
}

func canonicalizeServices(services []*Service, task string) {
	for _, s := range services {
		setDefault(&s.Name, "${JOB}-${TASKGROUP}-${TASK}")
		setDefault(&s.Provider, "nomad")
		setDefault(&s.AddressMode, "auto")
		setDefault(&s.OnUpdate, "require_healthy")
		setDefault(&s.TaskName, task)
		for _, c := range s.Checks {
			c.canonicalize(s)
		}
	}
}

func (c *Check) canonicalize(s *Service) {
	setDefault(&c.Name, "service: "+s.Name+" check")
	setDefault(&c.Interval, 30*time.Second)
	setDefault(&c.Timeout, 5*time.Second)
	setDefault(&c.OnUpdate, s.OnUpdate)
	setDefault(&c.PortLabel, s.PortLabel)
	if c.Type == CheckHTTP {
		setDefault(&c.Method, "GET")
		setDefault(&c.Protocol, "http")
	}
	if c.Type == CheckScript {
		setDefault(&c.TaskName, s.TaskName)
	}
	if c.CheckRestart == nil && s.CheckRestart != nil && c.Kind == "" { // other kinds configure restarts themselves
		copied := *s.CheckRestart
		c.CheckRestart = &copied
	}
	if c.CheckRestart != nil {
		setPointer(&c.CheckRestart.Grace, time.Second)
	}
}

func canonicalizeConstraints(constraints []*Constraint, affinities []*Affinity, spreads []*Spread) {
	for _, c := range constraints {
		setDefault(&c.Operand, OperandEqual)
	}
	for _, a := range affinities {
		setDefault(&a.Operand, OperandEqual)
		setPointer(&a.Weight, 50)
	}
	for _, s := range spreads {
		setPointer(&s.Weight, 50)
	}
}

func mergeUpdate(own, base *Update) *Update {
	u := merge(own, base)
	if u.MaxParallelPercent != nil && u.MaxParallel == nil {
		u.MaxParallel = new(1) // for clients that read only numbers
	}
	setPointer(&u.Stagger, 30*time.Second)
	setPointer(&u.MaxParallel, 1)
	setPointer(&u.HealthCheck, HealthCheckChecks)
	setPointer(&u.MinHealthyTime, 10*time.Second)
	setPointer(&u.HealthyDeadline, 5*time.Minute)
	setPointer(&u.ProgressDeadline, 10*time.Minute)
	setPointer(&u.Canary, 0)
	setPointer(&u.AutoRevert, false)
	setPointer(&u.AutoPromote, false)
	return u
}

// canonicalizePlans sets the defaults of declared plans.
func canonicalizePlans(plans []*PlanSpec) {
	for _, p := range plans {
		if p == nil {
			continue
		}
		setDefault(&p.Strategy, StrategySerial)
		for _, ph := range p.Phases {
			if ph == nil {
				continue
			}
			setDefault(&ph.Group, ph.Name)
			setDefault(&ph.Strategy, StrategySerial)
			if ph.Strategy == "canary" {
				ph.Strategy = StrategySerialCanary
			}
		}
	}
}

func defaultRestart(jobType string) *Restart {
	interval, attempts := 30*time.Minute, 2
	if jobType == JobTypeBatch || jobType == JobTypeSysBatch {
		interval, attempts = 24*time.Hour, 3
	}
	delay, mode, render := 15*time.Second, RestartModeFail, false
	return &Restart{Interval: &interval, Attempts: &attempts, Delay: &delay, Mode: &mode, RenderTemplates: &render}
}

// defaultReschedule returns nil for job types with an instance on every node, unless the
// job requests rescheduling: no other node is available to them.
func defaultReschedule(jobType string, asked bool) *Reschedule {
	r := func(attempts int, interval, delay, maxDelay time.Duration, function string, unlimited bool) *Reschedule {
		return &Reschedule{Attempts: &attempts, Interval: &interval, Delay: &delay, MaxDelay: &maxDelay,
			DelayFunction: &function, Unlimited: &unlimited, Immediate: new(int)}
	}
	switch {
	case (jobType == JobTypeSystem || jobType == JobTypeSysBatch) && !asked:
		return nil
	case jobType == JobTypeService, jobType == JobTypeSystem:
		return r(0, 0, 30*time.Second, time.Hour, DelayExponential, true)
	}
	return r(1, 24*time.Hour, 5*time.Second, 0, DelayConstant, false)
}

// mergeReschedule is merge, except that attempts without unlimited set a limit, whatever
// the default.
func mergeReschedule(own, base *Reschedule) *Reschedule {
	if base == nil {
		return own
	}
	if own != nil && own.Unlimited == nil && own.Attempts != nil && *own.Attempts >= 0 {
		limited := *own
		setPointer(&limited.Unlimited, false)
		own = &limited
	}
	return merge(own, base)
}

func defaultMigrate() *Migrate {
	parallel, check, healthy, deadline := 1, HealthCheckChecks, 10*time.Second, 5*time.Minute
	return &Migrate{MaxParallel: &parallel, HealthCheck: &check, MinHealthyTime: &healthy, HealthyDeadline: &deadline}
}

// merge returns own with its unset fields set from base. Either may be nil. T is a policy:
// a struct of pointers.
func merge[T any](own, base *T) *T {
	var m T
	if own != nil {
		m = *own
	}
	if base == nil {
		return &m
	}
	to, from := reflect.ValueOf(&m).Elem(), reflect.ValueOf(base).Elem()
	for i := range to.NumField() {
		if f := to.Field(i); f.IsNil() {
			f.Set(from.Field(i))
			unshare(f)
		}
	}
	return &m
}

func setPointer[T any](dst **T, v T) {
	if *dst == nil {
		*dst = &v
	}
}

func setDefault[T comparable](dst *T, v T) {
	var zero T
	if *dst == zero {
		*dst = v
	}
}

// MetaFor returns the metadata of a task: its own values override its group's, which
// override the job's.
func (j *Job) MetaFor(g *Group, t *Task) map[string]string {
	meta := map[string]string{}
	maps.Copy(meta, j.Meta)
	if g != nil {
		maps.Copy(meta, g.Meta)
	}
	if t != nil {
		maps.Copy(meta, t.Meta)
	}
	return meta
}
