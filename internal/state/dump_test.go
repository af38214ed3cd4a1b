// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// dump is everything that readers can see of a snapshot, in a form that can be
// compared: each index lists ids in order, an allocation names its job by
// version.
type dump struct {
	Index         uint64
	Tables        map[string]uint64
	Jobs          []*api.Job
	Versions      map[string][]*api.Job
	Submissions   map[string]*api.JobSubmission
	Scaling       map[string]map[string][]api.ScalingEvent
	Summaries     map[string]*api.JobSummary
	Nodes         []*api.Node
	Evaluations   []*api.Evaluation
	Deployments   []*api.Deployment
	Allocations   []*dumpedAllocation
	Scheduler     *api.SchedulerConfig
	Pools         []*api.NodePool
	Domains       []*api.Domain
	Uninstalled   []*api.Uninstalled
	Namespaces    []*api.Namespace
	Servers       []*api.Server
	Autopilot     *api.AutopilotConfig
	Revocations   []*api.Revocation
	Introductions []*Introduction
	HostVolumes   []*api.HostVolume
	VolumeClaims  []*api.VolumeClaim
	ImagePins     []*api.ImagePin
	Trust         *Trust
	Renewals      []*Renewal
	Access        []any // policies, roles, tokens, and how users get them
	Stacks        []*api.Stack
	StackJobs     []*api.StackJob
	Units         []*api.Unit
	Shifts        []*api.Shift
	Audit         []*api.AuditRecord
	Sweep         *api.LifecycleSweep
	Cluster       string
	Timelines     []timeline
	Orphans       int
	Decisions     map[string][]*api.Decision
	Restarts      map[string][]*api.JobRestart
	Callbacks     []*api.Callback
	Blocked       map[string]string
	Decided       map[string]uint64
	Launches      map[string]Launches
	Scaled        []string
	ByIndex       map[string][]string // "job web" -> ids
	Quotas        []*api.Quota
	QuotaUsage    map[string]map[string]api.QuotaUse // by quota and pool
}

type dumpedAllocation struct {
	*api.Allocation
	JobVersion  uint64
	JobCreation uint64
}

// dumpOf walks the snapshot through every read there is.
func dumpOf(v *Snapshot) *dump {
	d := &dump{
		Index: v.Index(), Tables: map[string]uint64{},
		Versions: map[string][]*api.Job{}, Submissions: map[string]*api.JobSubmission{},
		Scaling: map[string]map[string][]api.ScalingEvent{}, Summaries: map[string]*api.JobSummary{},
		Launches: map[string]Launches{}, ByIndex: map[string][]string{},
		Decisions: map[string][]*api.Decision{}, Restarts: map[string][]*api.JobRestart{},
		Blocked: map[string]string{}, Decided: map[string]uint64{},
	}
	for t := range tableCount() {
		d.Tables[t.String()] = v.TableIndex(t)
	}
	d.Jobs = slices.Collect(v.Jobs())
	for _, j := range d.Jobs {
		key := j.Namespace + "/" + j.ID
		d.Versions[key] = v.JobVersions(j.Namespace, j.ID)
		for _, version := range d.Versions[key] {
			if s := v.Submission(j.Namespace, j.ID, version.Version); s != nil {
				d.Submissions[key] = s
			}
		}
		if s := v.ScalingEvents(j.Namespace, j.ID); len(s) > 0 {
			d.Scaling[key] = s
		}
		d.Summaries[key] = v.JobSummary(j.Namespace, j.ID)
		d.Decisions[key], d.Decided[key] = v.Decisions(j.Namespace, j.ID), v.Decided(j.Namespace, j.ID)
		for _, decision := range d.Decisions[key] {
			d.ByIndex["decision "+decision.ID] = []string{v.Decision(decision.ID).JobID}
		}
		d.Restarts[key] = slices.Collect(v.RestartsByJob(j.Namespace, j.ID))
		for _, restart := range d.Restarts[key] {
			d.ByIndex["restart "+restart.ID] = []string{v.Restart(restart.ID).JobID}
		}
		if e := v.BlockedEvaluation(j.Namespace, j.ID); e != nil {
			d.Blocked[key] = e.ID
		}
		if j.IsPeriodic() {
			d.Launches[key] = v.Launches(j.Namespace, j.ID)
		}
		if token := j.DispatchIdempotencyToken; token != "" {
			d.ByIndex["token "+token] = []string{v.Dispatched(j.Namespace, j.ParentID, token).ID}
		}
	}
	for j := range v.JobsWithScaling("*") {
		d.Scaled = append(d.Scaled, j.ID)
	}
	d.Scheduler, d.Pools = v.SchedulerConfig(), slices.Collect(v.NodePools())
	d.Domains, d.Cluster, d.Timelines = slices.Collect(v.Domains()), v.ClusterID(), v.cluster.timelines
	d.Orphans = v.OrphanCount()
	d.Uninstalled = slices.Collect(v.UninstalledJobs("*"))
	d.Namespaces = slices.Collect(v.NamespacesPrefix(""))
	d.Quotas, d.QuotaUsage = slices.Collect(v.QuotasPrefix("")), quotaSums(v)
	d.Autopilot, d.Renewals = v.Autopilot(), slices.Collect(v.Renewals())
	d.Access = accessOf(v)
	d.Introductions = slices.Collect(v.Introductions())
	d.HostVolumes, d.VolumeClaims = slices.Collect(v.HostVolumes("")), slices.Collect(v.VolumeClaims())
	d.ImagePins = slices.Collect(v.ImagePins())
	d.Servers, d.Revocations, d.Trust = slices.Collect(v.Servers()), slices.Collect(v.Revocations()), v.Trust()
	d.Stacks, d.StackJobs = slices.Collect(v.Stacks("*")), slices.Collect(stackJobs.all(&v.content, ""))
	d.Units, d.Shifts = slices.Collect(v.Units()), slices.Collect(v.Shifts())
	d.Audit, d.Sweep = slices.Collect(v.AllAudit("*")), v.LastSweep()
	for c := range v.CallbacksPrefix("") {
		d.Callbacks = append(d.Callbacks, c)
		for of := range v.CallbacksByJob(c.Namespace, c.JobID) {
			d.ByIndex["callback "+c.ID] = append(d.ByIndex["callback "+c.ID], of.ID)
		}
	}
	d.Nodes = slices.Collect(v.Nodes())
	d.Evaluations = slices.Collect(v.Evaluations())
	d.Deployments = slices.Collect(v.Deployments())
	seen := map[string]bool{}
	note := func(kind, id string, ids []string) {
		if key := kind + " " + id; !seen[key] && len(ids) > 0 {
			seen[key] = true
			d.ByIndex[key] = ids
		}
	}
	for _, e := range d.Evaluations {
		note("newest evaluation of job", e.Namespace+"/"+e.JobID, []string{strconv.FormatUint(v.NewestEvaluation(e.Namespace, e.JobID).CreateIndex, 10)})
		note("evaluations of job", e.Namespace+"/"+e.JobID, sortedIDs(v.EvaluationsByJob(e.Namespace, e.JobID), func(e *api.Evaluation) string { return e.ID }))
	}
	for _, e := range d.Deployments {
		var ids []string
		for e := range v.DeploymentsByJob(e.Namespace, e.JobID) {
			ids = append(ids, e.ID)
		}
		note("deployments of job", e.Namespace+"/"+e.JobID, ids)
		note("latest deployment of job", e.Namespace+"/"+e.JobID, []string{v.LatestDeployment(e.Namespace, e.JobID).ID})
	}
	for a := range v.Allocations() {
		c := a.Copy()
		c.Job = nil
		d.Allocations = append(d.Allocations, &dumpedAllocation{c, a.Job.Version, a.Job.CreateIndex})
		id := func(a *api.Allocation) string { return a.ID }
		note("job", a.Namespace+"/"+a.JobID, sortedIDs(v.AllocationsByJob(a.Namespace, a.JobID), id))
		note("node", a.NodeID, sortedIDs(v.AllocationsByNode(a.NodeID), id))
		note("evaluation", a.EvalID, sortedIDs(v.AllocationsByEval(a.EvalID), id))
		if a.DeploymentID != "" {
			note("deployment", a.DeploymentID, sortedIDs(v.AllocationsByDeployment(a.DeploymentID), id))
		}
	}
	return d
}

// accessOf returns everything that decides who may do what.
func accessOf(v *Snapshot) (all []any) {
	for p := range v.ACLPolicies("") {
		all = append(all, p)
	}
	for r := range v.ACLRoles("") {
		all = append(all, r, v.ACLRoleNamed(r.Name).ID)
	}
	for t := range v.ACLTokens("") {
		all = append(all, t)
		for _, hash := range append([][]byte{t.Hash}, t.Further...) {
			all = append(all, v.ACLTokenOf([32]byte(append(slices.Clone(hash), make([]byte, 32)...))) != nil)
		}
	}
	for o := range v.OneTimeTokens() {
		all = append(all, o)
	}
	for m := range v.AuthMethods("") {
		all = append(all, m)
		for r := range v.BindingRulesOf(m.Method.Name) {
			all = append(all, r)
		}
	}
	for r := range v.BindingRules("") {
		all = append(all, r.ID)
	}
	return all
}

func sortedIDs[T any](objects iter.Seq[T], id func(T) string) []string {
	var ids []string
	for o := range objects {
		ids = append(ids, id(o))
	}
	slices.Sort(ids)
	return ids
}

// text is the dump as JSON: equal text, equal states.
func (d *dump) text(t fataler) string {
	t.Helper()
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sameState fails unless two snapshots show the same.
func sameState(t testing.TB, what string, want, got *Snapshot) {
	t.Helper()
	if w, g := dumpOf(want).text(t), dumpOf(got).text(t); w != g {
		t.Fatalf("%s (-want +got):\n%s", what, cmp.Diff(w, g))
	}
}

// failer lets a rapid.T stand where a testing.TB is wanted.
type failer struct{ t interface{ Fatal(...any) } }

func (failer) Helper()             {}
func (f failer) Fatal(args ...any) { f.t.Fatal(args...) }

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// newPipe is a reader of what the snapshot writes.
func newPipe(v *Snapshot) *bytes.Buffer {
	var b bytes.Buffer
	v.WriteTo(&b)
	return &b
}
