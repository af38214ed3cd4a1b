// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/catalog"
	"github.com/reeve-run/reeve/internal/state"
)

// Core is the server behind the API: its state to read, and its verbs. Verbs
// fail with an *api.Error when the caller is to blame.
type Core interface {
	Store() *state.Store
	Catalog() *catalog.Catalog
	Leader() string           // address of the leader, "" when there is none
	Stats() map[string]string // of its log and, while it leads, its scheduler
	Degraded() (why string, writable bool)

	RegisterJob(ctx context.Context, req *api.RegisterJobRequest) (*api.RegisterJobResponse, error)
	ValidateJob(ctx context.Context, job *api.Job) *api.ValidateJobResponse
	PlanJob(ctx context.Context, req *api.PlanJobRequest) (*api.PlanJobResponse, error)
	DeregisterJob(ctx context.Context, namespace, id string, o server.DeregisterOptions) (*api.DeregisterJobResponse, error)
	RevertJob(ctx context.Context, req *api.RevertJobRequest) (*api.RegisterJobResponse, error)
	ScaleJob(ctx context.Context, namespace, id string, req *api.ScaleJobRequest) (*api.RegisterJobResponse, error)
	ChangeJob(ctx context.Context, namespace, id string, change *api.JobChange) (*api.ChangeJobResponse, error)
	EvaluateJob(ctx context.Context, namespace, id string, forceReschedule bool) (*api.RegisterJobResponse, error)
	ExplainJob(ctx context.Context, namespace, id string) (*api.JobExplanation, error)
	ExplainNode(ctx context.Context, nodeID, namespace, jobID string) ([]*api.NodeExplanation, error)
	DispatchJob(ctx context.Context, namespace, id string, req *api.DispatchJobRequest) (*api.DispatchJobResponse, error)
	ForcePeriodic(ctx context.Context, namespace, id string) (*api.ForcePeriodicResponse, error)
	SetJobStability(ctx context.Context, namespace, id string, version uint64, stable bool) (uint64, error)

	DeleteEvaluations(ctx context.Context, ids []string) (uint64, error)
	UnblockEvaluation(ctx context.Context, id string) (uint64, error)
	StopAllocation(ctx context.Context, id string, o server.StopOptions) (*api.StopAllocationResponse, error)
	FailDeployment(ctx context.Context, id string) (*api.DeploymentResponse, error)
	PauseDeployment(ctx context.Context, id string, req *api.DeploymentPauseRequest) (*api.DeploymentResponse, error)
	PromoteDeployment(ctx context.Context, id string, groups []string) (*api.DeploymentResponse, error) // none: all
	SetAllocationHealth(ctx context.Context, id string, healthy, unhealthy []string) (*api.DeploymentResponse, error)
	UnblockDeployment(ctx context.Context, id string) (*api.DeploymentResponse, error)

	Plans(ctx context.Context, namespace string) ([]*api.Plan, uint64, error) // of all jobs, without phases
	JobPlans(ctx context.Context, namespace, id string) ([]*api.Plan, uint64, error)
	JobPlan(ctx context.Context, namespace, id, plan string) (*api.Plan, uint64, error)
	PlanVerb(ctx context.Context, namespace, id, plan string, verb api.Verb, req *api.PlanRequest) (*api.PlanResponse, error)
	StartRestart(ctx context.Context, namespace, id string, req *api.JobRestartRequest) (*api.JobRestart, error)
	ChangeRestart(ctx context.Context, id, status string, req *api.JobRestartVerbRequest) (*api.JobRestart, error)
	Instances(ctx context.Context, namespace, id string) ([]*api.Instance, uint64, error)
	AllInstances(ctx context.Context, f server.InstanceFilter) ([]*api.Instance, uint64, error)
	InstancesByJob(f server.InstanceFilter) (iter.Seq[[]*api.Instance], uint64)
	Troubles(ctx context.Context, namespace, id string, of server.TroubleFilter) ([]*api.Trouble, uint64, error)
	KillInstance(ctx context.Context, namespace, id, name string, noShutdownDelay bool) (*api.KillInstanceResponse, error)
	InstanceVerb(ctx context.Context, namespace, id, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error)

	SetNodeEligibility(ctx context.Context, nodeID, eligibility string) (uint64, error)
	SetSchedulerConfig(ctx context.Context, req *api.SetSchedulerConfigRequest, enforceIndex *uint64) (uint64, error)
	PutNodePool(ctx context.Context, pool *api.NodePool) (uint64, error)
	MarkDomain(ctx context.Context, name string, req *api.DomainRequest) (uint64, error)
	EndFreshness(ctx context.Context, name string) (uint64, error)
	DeleteNodePool(ctx context.Context, name string) (uint64, error)
	DrainNode(ctx context.Context, nodeID string, req *api.NodeDrainRequest) (*api.NodeDrainResponse, error)
	PurgeNode(ctx context.Context, nodeID string) (*api.NodePurgeResponse, error)
	EvaluateNode(ctx context.Context, nodeID string) (*api.NodeEvaluateResponse, error)
	CollectGarbage(ctx context.Context) error

	OfferOrphans(ctx context.Context, nodeID, secret string, req *api.OfferOrphansRequest) (*api.OfferOrphansResponse, error)
	RegisterNode(ctx context.Context, node *api.Node) (*api.NodeHeartbeatResponse, error)
	SpeakFor(nodeID, secret, agent string) error
	Heartbeat(ctx context.Context, nodeID, secret string) (*api.NodeHeartbeatResponse, error)
	UpdateAllocations(ctx context.Context, nodeID, secret string, allocations []*api.Allocation) (uint64, error)
	ReportAllocations(ctx context.Context, nodeID, secret string, body []byte) (uint64, error) // the same, of wire.EncodeReport
	NodeStream(ctx context.Context, nodeID, secret string, told api.Position, send func(*server.NodeMessage) error) error
}

var _ Core = (*server.Server)(nil)
