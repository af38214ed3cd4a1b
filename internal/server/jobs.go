// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// RegisterJob stores a job and the evaluation that will act on it, in one
// command. A job equal to the stored one makes an evaluation but no version.
func (s *Server) RegisterJob(ctx context.Context, req *api.RegisterJobRequest) (*api.RegisterJobResponse, error) {
	if err := s.checkRegistration(); err != nil {
		return nil, err
	}
	if err := checkPriority("EvalPriority", req.EvalPriority); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		res, err := s.registerJob(ctx, req)
		// Counts that were preserved may have been changed since they were read.
		retry := req.PreserveCounts && !req.EnforceIndex && !req.NoRestart && api.CodeOf(err) == api.CodeConflict
		if !retry || attempt == changeAttempts {
			return res, err
		}
	}
}

// registerJob registers the job over the one that is stored now.
func (s *Server) registerJob(ctx context.Context, req *api.RegisterJobRequest) (*api.RegisterJobResponse, error) {
	snap := s.store.Snapshot()
	job, err := s.admit(snap, req.Job, req.Namespace)
	if err != nil {
		return nil, err
	}
	warnings := slices.Concat(job.Warnings(), volumeWarnings(snap, job), s.templateWarnings(snap, job))
	stored := snap.Job(job.Namespace, job.ID)
	if stored != nil && !stored.Stop {
		preserve(job, stored, req)
	}
	now := time.Now()
	job.SubmitTime = now.UnixNano()
	if req.NoRestart {
		if req, err = withoutRestart(req, job, stored); err != nil {
			return nil, err
		}
	}
	cmd := &state.RegisterJob{
		Job: job, Submission: req.Submission, Again: again(snap, job, stored),
		Evaluation: evaluationOf(job, api.TriggerJobRegister, req.EvalPriority, now),
	}
	switch {
	case req.EnforceIndex:
		cmd.EnforceIndex = &req.JobModifyIndex
	case req.PreserveCounts:
		cmd.EnforceIndex = new(uint64)
		if stored != nil {
			*cmd.EnforceIndex = stored.JobModifyIndex
		}
	}
	return s.register(ctx, cmd, strings.Join(warnings, "\n"))
}

// again reports whether an equal job is to be deployed once more: the cause of its failed deployment may have
// been outside of the job, such as a missing variable.
func again(snap *state.Snapshot, job, stored *api.Job) bool {
	return stored != nil && snap.Level() >= 3 && snap.HasFailedDeployment(stored) && api.SpecEqual(stored, job)
}

// register proposes the command and describes what it wrote, whatever others
// wrote since.
func (s *Server) register(ctx context.Context, cmd *state.RegisterJob, warnings string) (*api.RegisterJobResponse, error) {
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	res := &api.RegisterJobResponse{Warnings: warnings, Index: index, JobModifyIndex: index}
	if cmd.Evaluation != nil {
		res.EvalID, res.EvalCreateIndex = cmd.Evaluation.ID, index
	}
	return res, nil
}

// admit returns the job as a server accepts it, without the fields that servers write,
// or the errors in it. A job with a stack block is deployed as a stack.
func (s *Server) admit(snap *state.Snapshot, job *api.Job, namespace string) (*api.Job, error) {
	if job != nil && job.Stack != nil {
		return nil, api.Errorf(api.CodeInvalid, "job %q has a stack block: it is deployed in versions; deploy it with: reeve stack deploy FILE", job.ID)
	}
	admitted, err := admitJob(snap, job, namespace)
	if err == nil {
		err = s.checkHosts(admitted)
	}
	if err == nil && snap.Stack(admitted.Namespace, admitted.ID) != nil {
		return nil, api.Errorf(api.CodeConflict, "job %q belongs to a stack, which never changes: deploy another version with: reeve stack deploy FILE", admitted.ID)
	}
	return admitted, err
}

// admitJob is admit for the jobs of stacks, too.
func admitJob(snap *state.Snapshot, job *api.Job, namespace string) (*api.Job, error) {
	if job == nil {
		return nil, api.Errorf(api.CodeInvalid, "the request holds no Job: send {\"Job\": {...}}")
	}
	job = job.Copy()
	if job.Namespace == "" {
		job.Namespace = namespace
	}
	clearServerFields(job)
	if job.NodePool == "" {
		job.NodePool = snap.DefaultPool(job.Namespace)
	}
	job.Canonicalize()
	if err := job.Validate(); err != nil {
		return nil, err
	}
	if fields := api.Unsupported(job); len(fields) > 0 {
		return nil, &api.Error{
			Code:    api.CodeInvalid,
			Message: "the job uses what this version does not support; remove it",
			Detail:  fields,
		}
	}
	if problems := templateProblems(job); len(problems) > 0 {
		return nil, &api.Error{Code: api.CodeInvalid, Message: "the job has templates that are not valid", Detail: problems}
	}
	if err := snap.CheckNamespace(job); err != nil {
		return nil, err
	}
	if err := checkPool(snap, job); err != nil {
		return nil, err
	}
	if err := snap.CheckRoutes(job); err != nil {
		return nil, err
	}
	if stored := snap.Job(job.Namespace, job.ID); stored != nil {
		if err := checkKind(job, stored); err != nil {
			return nil, err
		}
	}
	return job, nil
}

// clearServerFields removes what only servers may write: people register what
// they got from inspecting a job.
func clearServerFields(job *api.Job) {
	job.Stop, job.Purge, job.ParentID, job.Dispatched, job.DispatchIdempotencyToken = false, false, "", false, ""
	job.Payload, job.NomadTokenID = nil, ""
	job.Status, job.StatusDescription, job.Stable, job.Version = "", "", false, 0
	job.SubmitTime, job.CreateIndex, job.ModifyIndex, job.JobModifyIndex = 0, 0, 0, 0
	job.VersionTag, job.Failure, job.Held, job.HeldReason = nil, nil, false, ""
	if job.Stack != nil {
		for _, d := range job.Stack.Depends {
			if d != nil {
				d.Found = nil
			}
		}
	}
}

// checkKind refuses to turn a job into something that runs in another way.
func checkKind(job, stored *api.Job) error {
	describe := func(j *api.Job) string {
		switch {
		case j.Periodic != nil:
			return "a periodic " + j.Type + " job"
		case j.Parameterized != nil:
			return "a parameterized " + j.Type + " job"
		}
		return "a " + j.Type + " job"
	}
	if was, is := describe(stored), describe(job); was != is && !stored.Stop {
		return api.Errorf(api.CodeInvalid,
			"job %q is %s and cannot become %s while it is not stopped: stop it first, or use another ID", job.ID, was, is)
	}
	return nil
}

// preserve keeps of a stored job what the request says: the counts of its groups,
// the resources of its tasks.
func preserve(job, stored *api.Job, req *api.RegisterJobRequest) {
	for _, g := range job.Groups {
		old := stored.Group(g.Name)
		if old == nil {
			continue
		}
		if req.PreserveCounts && old.Count != nil {
			count := *old.Count
			g.Count = &count
		}
		if !req.PreserveResources {
			continue
		}
		for _, t := range g.Tasks {
			if before := old.Task(t.Name); before != nil && before.Resources != nil {
				t.Resources = before.Resources // a version is never changed, so both may have it
			}
		}
	}
}

// evaluationOf is the evaluation of a job that somebody changed; nil for a
// job that only starts others.
func evaluationOf(job *api.Job, trigger string, priority int, now time.Time) *api.Evaluation {
	if job.IsPeriodic() || job.IsParameterized() {
		return nil
	}
	e := newEvaluation(job, trigger, now)
	if priority != 0 {
		e.Priority = priority
	}
	return e
}

func newEvaluation(job *api.Job, trigger string, now time.Time) *api.Evaluation {
	return &api.Evaluation{
		ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: job.Priority,
		TriggeredBy: trigger, JobModifyIndex: job.JobModifyIndex, Status: api.EvalStatusPending,
		CreateTime: now.UnixNano(), ModifyTime: now.UnixNano(),
	}
}

// ValidateJob lists everything that is wrong with a job.
func (s *Server) ValidateJob(ctx context.Context, job *api.Job) *api.ValidateJobResponse {
	res := &api.ValidateJobResponse{DriverConfigValidated: true}
	if job != nil && job.Stack != nil {
		return s.validateStack(ctx, job, res)
	}
	admitted, err := s.admit(s.store.Snapshot(), job, "")
	if err == nil {
		res.Warnings = strings.Join(admitted.Warnings(), "\n")
		return res
	}
	return invalidJob(res, err)
}

// validateStack checks a job with a stack block as its deployment does. A version that is deployed already
// with other content is not an error of the file.
func (s *Server) validateStack(ctx context.Context, job *api.Job, res *api.ValidateJobResponse) *api.ValidateJobResponse {
	plan, err := s.PlanStacks(ctx, &api.DeployStacksRequest{Jobs: []*api.Job{job}, Redeploy: true}, api.DefaultNamespace)
	if err != nil {
		return invalidJob(res, err)
	}
	res.Warnings = strings.TrimSpace(plan.Warnings)
	return res
}

func invalidJob(res *api.ValidateJobResponse, err error) *api.ValidateJobResponse {
	res.Error = err.Error()
	res.ValidationErrors = []string{err.Error()}
	if e, ok := err.(*api.Error); ok && len(e.Detail) > 0 {
		res.ValidationErrors = e.Detail
	}
	return res
}

// DeregisterOptions say how a job is stopped.
type DeregisterOptions struct {
	Purge           bool // forget the job and its versions as soon as nothing of it runs
	NoShutdownDelay bool
	EvalPriority    int
}

// DeregisterJob stops a job: an evaluation stops its allocations.
func (s *Server) DeregisterJob(ctx context.Context, ns, id string, opts DeregisterOptions) (*api.DeregisterJobResponse, error) {
	if err := checkPriority("eval_priority", opts.EvalPriority); err != nil {
		return nil, err
	}
	snap := s.store.Snapshot()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	eval := evaluationOf(job, api.TriggerJobDeregister, opts.EvalPriority, now)
	var cmds []state.Command
	if opts.NoShutdownDelay {
		if ids := liveAllocations(snap, job); len(ids) > 0 {
			yes := true
			cmds = append(cmds, &state.SetTransition{
				AllocationIDs: ids, Transition: api.DesiredTransition{NoShutdownDelay: &yes},
			})
		}
	}
	cmds = append(cmds, &state.DeregisterJob{
		Namespace: job.Namespace, ID: job.ID, Purge: opts.Purge, Evaluation: eval, Time: now.UnixNano(),
	})
	index, err := s.propose(ctx, cmds...)
	if err != nil {
		return nil, err
	}
	res := &api.DeregisterJobResponse{JobModifyIndex: index, Index: index}
	if eval != nil {
		res.EvalID, res.EvalCreateIndex = eval.ID, index
	}
	return res, nil
}

// checkPriority checks the priority of an evaluation; 0 is the job's.
func checkPriority(name string, priority int) error {
	if priority != 0 && (priority < api.JobPriorityMin || priority > api.JobPriorityMax) {
		return api.Errorf(api.CodeInvalid, "%s is %d; it must be between %d and %d", name, priority, api.JobPriorityMin, api.JobPriorityMax)
	}
	return nil
}

func liveAllocations(snap *state.Snapshot, job *api.Job) (ids []string) {
	for a := range snap.AllocationsByJob(job.Namespace, job.ID) {
		if !a.IsTerminal() {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// jobOf returns the stored job, or an error that names it.
func jobOf(snap *state.Snapshot, ns, id string) (*api.Job, error) {
	if ns == "" {
		ns = api.DefaultNamespace
	}
	if job := snap.Job(ns, id); job != nil {
		return job, nil
	}
	return nil, snap.JobNotFound(ns, id)
}
