// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/eventstream"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/server/remote"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	put   = http.MethodPut
	del   = http.MethodDelete
	fetch = http.MethodGet
	patch = http.MethodPatch

	jobs        = state.TableJobs
	versions    = state.TableJobVersions
	evaluations = state.TableEvaluations
	allocations = state.TableAllocations
	nodes       = state.TableNodes
	deployments = state.TableDeployments
	scaling     = state.TableScaling
	schedulers  = state.TableSchedulerConfig
	decisions   = state.TableDecisions
	restarts    = state.TableRestarts
	callbacks   = state.TableCallbacks

	lines  = "application/x-ndjson"
	octets = "application/octet-stream"
)

// Tables of declared nouns.
var (
	nodePools   = state.TableNodePools
	domains     = state.TableDomains
	namespaces  = state.TableNamespaces
	autopilots  = state.TableAutopilot
	revocations = state.TableRevocations
	uninstalled = state.TableUninstalled
	stacks      = state.TableStacks
	units       = state.TableUnits
	shifts      = state.TableShifts
	audit       = state.TableAudit
	aclPolicies = state.TableACLPolicies
	aclRoles    = state.TableACLRoles
	aclTokens   = state.TableACLTokens
	quotas      = state.TableQuotas

	authMethods  = state.TableAuthMethods
	bindingRules = state.TableBindingRules
)

// planTables are the tables that plans and instances are derived from.
var planTables = []state.Table{jobs, allocations, evaluations, deployments, nodes, decisions, restarts, uninstalled}

// lifeTables are the tables that plans, with those of stacks, are derived from.
var lifeTables = append(planTables[:len(planTables):len(planTables)], stacks, shifts)

// routes returns the table of all routes.
func routes() []route {
	table := slices.Concat(routeTable(), secretRoutes(), volumeRoutes(), uiRoutes())
	for i := range table {
		table[i].settle()
	}
	return table
}

func routeTable() []route {
	return []route{
		list("/v1/jobs", ListJobs, "Lists jobs by namespace and id.", jobsByName, listJobs, showJob).filtering().blocking(jobs, allocations, evaluations).params("meta", "domain"),
		write(put, "/v1/jobs", SubmitJob, "Registers a job.", registerJob),
		answering[[]*api.JobOverview]("/v1/jobs/statuses", ReadJob, "Lists jobs with their allocations and latest deployments, by their last change.", listJobStatuses).filtering().blocking(jobs, allocations, deployments, evaluations).filtered().params("include_children"),
		answering[[]*api.JobOverview]("/v1/jobs/statuses", ReadJob, "Lists the jobs in the body, with their allocations and latest deployments.", findJobStatuses).filtering().taking(reflect.TypeFor[api.JobStatusesRequest]()).reading().blocking(jobs, allocations, deployments, evaluations).filtered().bodyOptional(),
		write(put, "/v1/jobs/parse", Anonymous, "Turns a job file (HCL, JSON or YAML) into a job.", parseJob).limited(limit.Parse),
		write(put, "/v1/validate/job", ReadJob, "Validates a job and returns its errors.", validateJob).limited(limit.Parse),

		read("/v1/job/{id}", ReadJob, "Returns a job's current version.", getJob).blocking(jobs),
		write(put, "/v1/job/{id}", SubmitJob, "Registers a job under its id.", registerNamedJob),
		write(patch, "/v1/job/{id}", SubmitJob, "Changes a job without restarting its instances: annotation, counts, routes, metric tags, service tags, meta and checks.", changeJob),
		write(del, "/v1/job/{id}", StopJob, "Stops a job, and deletes it with `purge`; an unknown job is no error.", deregisterJob).params("purge", "no_shutdown_delay", "eval_priority"),
		write(put, "/v1/job/{id}/plan", PlanJob, "Returns the changes that registration of a job would make.", planJob).limited(limit.Plan),
		read("/v1/job/{id}/allocations", ReadJob, "Lists a job's allocations.", getJobAllocations).blocking(allocations).params("all", "resources", "task_states"),
		read("/v1/job/{id}/evaluations", ReadJob, "Lists a job's evaluations.", getJobEvaluations).blocking(evaluations),
		read("/v1/job/{id}/summary", ReadJob, "Counts a job's allocations by group and status.", getJobSummary).blocking(jobs, allocations, evaluations),
		read("/v1/job/{id}/explain", ExplainJob, "Returns the nodes that could run another instance of each group, and every obstacle on the others.", explainJob).ofLeader().limited(limit.Plan),
		read("/v1/job/{id}/versions", ReadJob, "Lists a job's versions, newest first, with their differences if requested.", getJobVersions).blocking(versions, jobs).params("diffs"),
		read("/v1/job/{id}/submission", ReadJob, "Returns the source text of a version.", getJobSubmission).blocking(versions, jobs).params("version"),
		read("/v1/job/{id}/deployments", ReadJob, "Lists a job's deployments, newest first.", getJobDeployments).blocking(deployments).params("all"),
		read("/v1/job/{id}/deployment", ReadJob, "Returns a job's newest deployment, or null.", getJobDeployment).blocking(deployments),
		read("/v1/job/{id}/scale", ReadScale, "Returns the counts of a job's groups, and their changes.", getJobScale).blocking(jobs, allocations, scaling),
		write(put, "/v1/job/{id}/scale", ScaleJob, "Sets the count of one group.", scaleJob),
		write(put, "/v1/job/{id}/revert", RevertJob, "Runs an older version again, as a new version.", revertJob),
		write(put, "/v1/job/{id}/stable", StableJob, "Marks a version as stable, or not.", setJobStable),
		write(put, "/v1/job/{id}/dispatch", DispatchJob, "Starts a parameterized job with meta and a payload.", dispatchJob).bodyOptional().params("idempotency_token"),
		read("/v1/job/{id}/dispatch/payload", ReadJob, "Returns the payload of a dispatched job.", getDispatchPayload).blocking(jobs),
		read("/v1/job/{id}/actions", ReadJob, "Lists the actions of a job's tasks.", getJobActions).blocking(jobs),
		speaking[api.ExecInput, api.ExecOutput](raw(fetch, "/v1/job/{id}/action", AllocExec, "Runs an action in a task of a job, over a websocket, with the messages of `/v1/client/allocation/{alloc}/exec`. Without `allocID`, the server chooses a running allocation. A task whose driver does not isolate it from its node, such as raw_exec, also needs alloc-node-exec.", "application/json", runAction).params("action", "allocID", "group", "task", "tty", "ws_handshake")).limited(limit.Exec),
		write(put, "/v1/job/{id}/periodic/force", ForcePeriodic, "Starts a periodic job now.", forcePeriodic),
		write(put, "/v1/job/{id}/evaluate", EvaluateJob, "Evaluates a job again.", evaluateJob).bodyOptional(),

		read("/v1/plans", ReadJob, "Lists the plans of all jobs, without their phases, by job and priority.", listPlans).filtering().blocking(lifeTables...).filtered().params("status"),
		read("/v1/job/{id}/plans", ReadJob, "Lists a job's plans, without their phases, by priority.", getJobPlans).blocking(lifeTables...).filtered().params("status"),
		read("/v1/job/{id}/plan/{plan}", ReadJob, "Returns a job's plan, by name or id: its phases, steps and decisions.", getJobPlan).blocking(lifeTables...),
		write(put, "/v1/job/{id}/plan/{plan}/{verb}", OperatePlan, "Applies a verb to a plan, or to a phase or step of it: `start`, `stop`, `continue`, `interrupt`, `restart`, `force-complete`.", planVerb).strict().bodyOptional().params("phase", "step", "by", "reason"),
		read("/v1/job/{id}/decisions", ReadJob, "Lists the decisions about a job's plans and instances, oldest first.", getJobDecisions).blocking(decisions, jobs).filtered(),
		speaking[none, api.JobLogFrame](raw(fetch, "/v1/job/{id}/logs", ReadLogs, "Sends the output of the tasks of a job: of the allocations that run, 50 at most, or of the newest one of each instance. With `follow`, also of allocations that start meanwhile.", lines, streamJobLogs).params("group", "task", "type", "follow", "origin", "offset")).limited(limit.Files),
		read("/v1/job/{id}/instances", ReadJob, "Lists a job's instances by group and index.", getJobInstances).blocking(planTables...).filtered().params("state", "presence", "instance", "task_states"),
		read("/v1/job/{id}/instance/{name}", ReadJob, "Returns a job's instance: `GROUP-INDEX`, or the bare index if the job has one group.", getJobInstance).blocking(planTables...),
		read("/v1/job/{id}/troubles", ReadJob, "Lists the current troubles of a job's instances: the most informative first, and one entry for all instances with the same trouble.", getJobTroubles).blocking(planTables...).params("instance", "version"),
		write(del, "/v1/job/{id}/instance/{name}", AllocLife, "Stops the allocation of an instance. Another allocation replaces it immediately.", killInstance).params("no_shutdown_delay"),
		write(put, "/v1/job/{id}/instance/{name}/{verb}", AllocLife, "Applies a verb to an instance: `restart` (in place), `replace` (on any node, with empty directories), `pause`, `resume`.", instanceVerb).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/job/{id}/restart", RestartJob, "Restarts a job's allocations in place, batch by batch.", startRestart).strict().bodyOptional(),
		read("/v1/job/{id}/restarts", ReadJob, "Lists a job's restarts, newest first.", getJobRestarts).blocking(restarts),
		read("/v1/job/{id}/restart/{rid}", ReadJob, "Returns a job's restart.", getJobRestart).blocking(restarts),
		write(del, "/v1/job/{id}/restart/{rid}", RestartJob, "Cancels a restart permanently.", cancelRestart).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/job/{id}/restart/{rid}/pause", RestartJob, "Pauses a restart.", pauseRestart).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/job/{id}/restart/{rid}/resume", RestartJob, "Resumes a paused restart.", resumeRestart).strict().bodyOptional().params("by", "reason"),
		read("/v1/job/{id}/callbacks", ReadJob, "Lists a job's completion callbacks, newest first.", getJobCallbacks).blocking(callbacks),
		list("/v1/callbacks", ReadJob, "Lists callbacks, oldest first.", callbacksByTime, listCallbacks, showCallback).filtering().blocking(callbacks).params("job", "status"),
		read("/v1/callback/{id}", ReadJob, "Returns a callback: the outcome of a job, the receiver, and the state of its delivery.", getCallback).blocking(callbacks),
		read("/v1/stacks", ReadJob, "Lists stacks by unit, newest version first, without terminated ones.", listStacks).blocking(stacks, units, shifts).params("unit", "version", "status"),
		write(put, "/v1/stacks", DeployStack, "Deploys stacks: versions of units. A version that is deployed already with the same content is a success.", deployStacks).strict(),
		write(put, "/v1/stacks/plan", DeployStack, "Checks a deployment of stacks without storing it.", planStacks).strict().limited(limit.Plan),
		write(put, "/v1/stacks/register", WriteOperator, "Registers a stack that runs outside of Reeve at an address, to which routers then connect.", registerStack).strict().params("by"),
		write(put, "/v1/stacks/sweep", SubmitJob, "Sweeps all stacks now, or decides without changing anything.", sweepStacks).params("dry_run"),
		read("/v1/stacks/graph", ReadJob, "Returns stacks and what uses them.", getStackGraph).blocking(stacks, units, shifts).limited(limit.Plan),
		read("/v1/stack/{id}", ReadJob, "Returns a stack by its name or id.", getStack).blocking(stacks, units, shifts),
		read("/v1/stack/{id}/verdicts", ReadJob, "Lists the audit records of a stack and of its shifts, newest first.", getStackVerdicts).blocking(audit),
		write(del, "/v1/stack/{id}", LifeStack, "Stops a stack: it becomes garbage, and is removed after its grace, or immediately.", stopStack).strict().bodyOptional().params("now", "by", "reason"),
		write(put, "/v1/stack/{id}/hold", LifeStack, "Holds a stack: it is kept, regardless of its policy.", stackVerb("hold")).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/stack/{id}/unhold", LifeStack, "Ends the hold of a stack.", stackVerb("unhold")).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/stack/{id}/extend", LifeStack, "Gives a stack more time.", stackVerb("extend")).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/stack/{id}/expire", LifeStack, "Ends the time of a stack: the next sweep makes it garbage, unless something uses it or its policy keeps it.", stackVerb("expire")).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/stack/{id}/rescue", LifeStack, "Makes a garbage stack ready again.", stackVerb("rescue")).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/stack/{id}/redeploy", DeployStack, "Deploys a second stack from the stored submission of one, and returns the new stack.", redeployStack).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/stack/{id}/stop", LifeStack, "Makes a stack garbage, even if something uses it.", stackVerb("stop")).strict().bodyOptional().params("by", "reason"),
		read("/v1/units", ReadJob, "Lists units with their stacks.", listUnits).blocking(stacks, units, shifts),
		read("/v1/unit/{id}", ReadJob, "Returns a unit with its stacks.", getUnit).blocking(stacks, units, shifts),
		write(put, "/v1/unit/{id}/shift", ShiftStack, "Begins a shift of a unit's traffic to one of its ready stacks.", startShift).strict().params("by"),
		write(put, "/v1/unit/{id}/deprecate", LifeStack, "Deprecates a feature version of a unit: nothing new may depend on it.", unitVerb("deprecate")).strict().params("by", "reason"),
		write(put, "/v1/unit/{id}/undeprecate", LifeStack, "Allows new dependencies on a deprecated version again.", unitVerb("undeprecate")).strict().params("by", "reason"),
		write(put, "/v1/unit/{id}/tag", LifeStack, "Gives a version of a unit a name, or removes the name.", unitVerb("tag")).strict().params("by", "reason"),
		write(put, "/v1/unit/{id}/policy", LifeStack, "Sets or removes the retention policy of all stacks of a unit.", unitVerb("policy")).strict().params("by", "reason"),
		read("/v1/shifts", ReadJob, "Lists shifts of traffic, newest first.", listShifts).blocking(shifts).ofLeader(),
		read("/v1/shift/{id}", ReadJob, "Returns a shift by its id, or the running shift of a unit, or its last one.", getShift).blocking(shifts).ofLeader(),
		write(put, "/v1/shift/{id}/{verb}", ShiftStack, "Applies a verb to a shift: `pause`, `resume`, `reverse`, `finish`, `set`.", shiftVerb).strict().bodyOptional().params("by", "reason"),
		read("/v1/audit", ReadJob, "Lists audit records, newest first.", listAudit).blocking(audit).params("stack", "unit", "shift"),

		list("/v1/restarts", ReadJob, "Lists restarts, oldest first.", restartsByTime, listRestarts, showRestart).filtering().blocking(restarts).params("job", "status"),
		read("/v1/restart/{id}", ReadJob, "Returns a restart.", getRestart).blocking(restarts),

		read("/v1/instances", ReadJob, "Lists the instances of all jobs, by job, group and index.", listInstances).filtering().blocking(planTables...).filtered().params("domain", "job", "node", "state", "presence", "instance", "task_states"),
		list("/v1/allocations", ReadJob, "Lists allocations, oldest first.", allocationsByTime, listAllocations, showAllocation).filtering().blocking(allocations).params("resources", "task_states"),
		read("/v1/allocation/{id}", ReadJob, "Returns an allocation with its job.", getAllocation).blocking(allocations).forNodes(successorOf),
		write(put, "/v1/allocation/{id}/stop", AllocLife, "Stops an allocation, and places its instance again.", stopAllocation).params("no_shutdown_delay", "reschedule"),

		list("/v1/evaluations", ReadJob, "Lists evaluations, oldest first.", evaluationsByTime, listEvaluations, showEvaluation).filtering().blocking(evaluations).params("job", "status"),
		write(del, "/v1/evaluations", Management, "Deletes evaluations, by id or by filter; 409 for one that a worker is processing.", deleteEvaluations),
		write(put, "/v1/evaluation/{id}/unblock", EvaluateJob, "Retries a blocked evaluation now, regardless of its reason to wait.", unblockEvaluation),
		read("/v1/evaluations/count", ReadJob, "Counts evaluations.", countEvaluations).blocking(evaluations).filtered().params("job", "status"),
		read("/v1/evaluation/{id}", ReadJob, "Returns an evaluation, with stubs of related evaluations if requested.", getEvaluation).blocking(evaluations).params("related"),
		read("/v1/evaluation/{id}/allocations", ReadJob, "Lists the allocations that an evaluation created or changed; none for an unknown evaluation.", getEvaluationAllocations).blocking(allocations, evaluations).params("resources", "task_states"),

		list("/v1/deployments", ReadJob, "Lists deployments, oldest first.", deploymentsByTime, listDeployments, showDeployment).filtering().blocking(deployments),
		read("/v1/deployment/{id}", ReadJob, "Returns a deployment.", getDeployment).blocking(deployments),
		read("/v1/deployment/allocations/{id}", ReadJob, "Lists a deployment's allocations.", getDeploymentAllocations).blocking(allocations, deployments).params("resources", "task_states"),
		write(put, "/v1/deployment/fail/{id}", FailDeployment, "Ends a deployment as failed.", failDeployment).bodyOptional(),
		write(put, "/v1/deployment/pause/{id}", PauseDeployment, "Pauses or resumes a deployment.", pauseDeployment),
		write(put, "/v1/deployment/promote/{id}", PromoteDeployment, "Promotes a deployment's canaries: they replace the old instances.", promoteDeployment),
		write(put, "/v1/deployment/allocation-health/{id}", SetAllocHealth, "Sets the health of a deployment's allocations by hand.", setAllocationHealth),
		write(put, "/v1/deployment/unblock/{id}", UnblockDeployment, "Completes a deployment that waits for other regions.", unblockDeployment).bodyOptional(),

		read("/v1/routes", ReadJob, "Lists the routes of jobs and of stacks outside of Reeve by host and path, with the numbers of routable instances.", listRoutes).blocking(jobs, allocations, stacks, units, shifts).filtered().params("job"),

		list("/v1/scaling/policies", ListPolicies, "Lists the scaling policies of jobs by job and group.", policiesByName, listScalingPolicies, showScalingPolicy).blocking(scaling, jobs).params("job", "type"),
		read("/v1/scaling/policy/{id}", ReadPolicy, "Returns a scaling policy.", getScalingPolicy).blocking(scaling, jobs),

		answering[[]*api.ServiceListStub]("/v1/services", ReadJob, "Lists the services of routable allocations, with their tags.", listServices).blocking(allocations).filtered(),
		answering[[]*api.ServiceRegistration]("/v1/service/{name}", ReadJob, "Lists the routable allocations of a service.", getService).blocking(allocations).filtered().params("choose", "tag"),
		write(del, "/v1/service/{name}/{id}", SubmitJob, "Always fails: registrations are derived from allocations.", refuseServiceDelete),
		read("/v1/job/{id}/services", ReadJob, "Lists the services of a job's routable allocations.", getJobServices).blocking(allocations).filtered().params("tag"),
		read("/v1/allocation/{id}/services", ReadJob, "Lists the services of an allocation; none while it is not routable.", getAllocationServices).blocking(allocations).filtered().params("tag"),
		read("/v1/catalog", ReadJob, "Lists the services and routes of each routable allocation, by allocation id.", listCatalog).filtering().blocking(allocations).filtered(),
		speaking[none, api.CatalogUpdate](raw(fetch, "/v1/catalog/stream", ReadJob, "Sends the catalog: all of it first, then every change, one JSON object per line; `{}` is a heartbeat. A slow reader is resynchronized.", lines, streamCatalog).params("timeline", "index")).forNodes(anyNode),

		list("/v1/nodes", ReadNode, "Lists nodes by id.", nodesByID, listNodes, showNode).blocking(nodes).params("resources", "os"),
		read("/v1/topology", ReadNode, "Returns all nodes as columns, with the resources that their allocations hold: small also for ten thousand nodes. `job` adds a column with the number of the job's allocations.", getTopology).blocking(nodes, allocations, schedulers).params("job"),
		read("/v1/node/{id}", ReadNode, "Returns a node.", getNode).blocking(nodes),
		read("/v1/node/{id}/allocations", ReadNode, "Returns a node's allocations with their jobs; none for an unknown node.", getNodeAllocations).blocking(allocations, nodes),
		read("/v1/node/{id}/explain", ReadNode, "Returns whether a node could run another instance of each of a job's groups, and every obstacle.", explainNode).params("job").ofLeader().limited(limit.Plan),
		write(put, "/v1/node/{id}/eligibility", WriteNode, "Sets whether new allocations may be placed on a node.", setNodeEligibility),
		write(put, "/v1/node/{id}/drain", WriteNode, "Starts, changes or ends a node's drain.", drainNode),
		read("/v1/node/{id}/drain", ReadNode, "Returns the progress of a node's drain, and the reasons why its allocations wait.", getNodeDrain).blocking(nodes, allocations),
		write(put, "/v1/node/{id}/evaluate", WriteNode, "Evaluates the jobs with allocations on a node.", evaluateNode).bodyOptional(),
		write(put, "/v1/node/{id}/purge", WriteNode, "Deletes a node. Its allocations become lost, and are replaced.", purgeNode).bodyOptional(),

		list("/v1/node/pools", ReadNode, "Lists node pools by name.", poolsByName, listNodePools, showNodePool).blocking(nodePools),
		write(put, "/v1/node/pools", WriteNode, "Creates or updates a node pool.", putNodePool),
		read("/v1/node/pool/{id}", ReadNode, "Returns a node pool.", getNodePool).blocking(nodePools),
		write(put, "/v1/node/pool/{id}", WriteNode, "Creates or updates a node pool under its name.", putNamedNodePool),
		write(del, "/v1/node/pool/{id}", WriteNode, "Deletes a node pool without nodes and jobs.", deleteNodePool),
		list("/v1/node/pool/{id}/nodes", ReadNode, "Lists the nodes of a node pool by id.", nodesByID, listPoolNodes, showNode).blocking(nodes).params("resources", "os"),
		list("/v1/node/pool/{id}/jobs", ReadJob, "Lists the jobs of a node pool by namespace and id.", jobsByName, listPoolJobs, showJob).filtering().blocking(jobs, allocations, evaluations).params("meta"),

		write(put, "/v1/node/{id}/register", BeNode, "Registers a node with its attributes and resources.", registerNode).forNodes(ownNode),
		write(put, "/v1/node/{id}/orphans", BeNode, "Reports the orphans of a node: allocations that the servers do not know.", offerOrphans).upTo(nodeBodyLimit).forNodes(ownNode),
		write(put, "/v1/node/{id}/heartbeat", BeNode, "Records the heartbeat of a node.", heartbeatNode).forNodes(ownNode),
		speaking[none, api.NodeAllocations](raw(fetch, "/v1/node/{id}/allocations/stream", BeNode, "Sends a node its allocations: all of them first, then every change, one JSON object per line.", lines, streamAllocations).params("timeline", "index")).forNodes(ownNode).ofLeader(),
		write(put, "/v1/traffic", BeNode, "Records the requests to stacks that a router counted.", reportTraffic).upTo(nodeBodyLimit).forNodes(ownNode),
		write(put, "/v1/node/{id}/allocations", BeNode, "Records the status of a node's allocations.", updateAllocations).upTo(nodeBodyLimit).encoded().forNodes(ownNode),

		speaking[none, []*api.FileInfo](raw(fetch, "/v1/client/fs/ls/{alloc}", ReadFS, "Lists a directory of an allocation.", "application/json", serveNode).params("path").onNode()).limited(limit.Files),
		speaking[none, *api.FileInfo](raw(fetch, "/v1/client/fs/stat/{alloc}", ReadFS, "Describes a file of an allocation.", "application/json", serveNode).params("path").onNode()).limited(limit.Files),
		raw(fetch, "/v1/client/fs/cat/{alloc}", ReadFS, "Returns a file of an allocation.", octets, serveNode).params("path").onNode().limited(limit.Files),
		raw(fetch, "/v1/client/fs/readat/{alloc}", ReadFS, "Returns a part of a file of an allocation.", octets, serveNode).params("path", "offset", "limit").onNode().limited(limit.Files),
		speaking[none, api.StreamFrame](raw(fetch, "/v1/client/fs/stream/{alloc}", ReadFS, "Sends a file of an allocation, and appended data, in frames.", lines, serveNode).params("path", "offset", "origin", "plain").onNode()).limited(limit.Files),
		speaking[none, api.StreamFrame](raw(fetch, "/v1/client/fs/logs/{alloc}", ReadLogs, "Sends a task's log in frames.", lines, serveNode).params("task", "type", "follow", "offset", "origin", "plain").onNode()).limited(limit.Files),
		speaking[api.RestartAllocationRequest, none](raw(put, "/v1/client/allocation/{alloc}/restart", AllocLife, "Restarts tasks of an allocation in place.", "application/json", serveNode).onNode()),
		speaking[api.SignalAllocationRequest, none](raw(put, "/v1/client/allocation/{alloc}/signal", AllocLife, "Sends a signal to tasks of an allocation.", "application/json", serveNode).onNode()),
		speaking[api.ExecInput, api.ExecOutput](raw(fetch, "/v1/client/allocation/{alloc}/exec", AllocExec, "Runs a command in the environment of a task, over a websocket: the client sends messages of the body's type, and receives messages of the answer's type. A task whose driver does not isolate it from its node, such as raw_exec, also needs alloc-node-exec.", "application/json", serveNode).params("task", "command", "action", "tty", "ws_handshake").onNode()).limited(limit.Exec),
		raw(fetch, "/v1/client/allocation/{alloc}/snapshot", ReadFS, "Returns the data of an allocation that has ended as a tar archive: its alloc/data and each task's local directory.", "application/x-tar", serveNode).onNode().forNodes(successorOf),
		speaking[none, map[string]*api.CheckStatus](raw(fetch, "/v1/client/allocation/{alloc}/checks", ReadJob, "Returns the last results of an allocation's checks.", "application/json", serveNode).onNode()),
		speaking[none, *api.AllocationStats](raw(fetch, "/v1/client/allocation/{alloc}/stats", ReadJob, "Returns the current resource usage of an allocation.", "application/json", serveNode).onNode()),
		speaking[none, *api.HostStats](raw(fetch, "/v1/client/stats", ReadNode, "Returns the current resource usage of a node's machine.", "application/json", serveNode).params("node_id").onNode()),
		speaking[none, *api.NodeImages](raw(fetch, "/v1/client/images", ReadNode, "Lists the images of a node's containers, with their users and the reasons why they stay or go.", "application/json", serveNode).params("node_id").onNode()),
		speaking[none, *api.NodeImages](raw(put, "/v1/client/images/gc", WriteNode, "Removes the images of a node that no allocation and no registered job needs.", "application/json", serveNode).params("node_id").onNode()),

		speaking[none, api.EventBatch](raw(fetch, "/v1/event/stream", ReadJob, "Sends events as they happen, after a snapshot if requested: the events of each log index together, as one JSON object per line or as server-sent events.", lines, streamEvents).params(eventParams...)),

		read("/v1/orphans", ReadJob, "Lists orphans: running allocations without a registered job.", listOrphans).blocking(allocations, jobs, domains).filtered(),
		read("/v1/domains", ReadOperator, "Lists fresh domains by name.", listDomains).blocking(domains).filtered().params("all"),
		read("/v1/domain/{id}", ReadOperator, "Returns a domain, fresh or not; `@none` is the domain of jobs without a domain.", getDomain).blocking(domains),
		write(put, "/v1/domain/{id}", MarkDomain, "Marks a domain as fresh, for a TTL or without limit: its owner confirms that all of its jobs are registered.", putDomain).strict().bodyOptional(),
		write(del, "/v1/domain/{id}", MarkDomain, "Ends the freshness of a domain early.", endFreshness),

		read("/v1/operator/scheduler/configuration", ReadOperator, "Returns the scheduler configuration.", getSchedulerConfig).blocking(schedulers),
		write(put, "/v1/operator/scheduler/configuration", WriteOperator, "Changes the scheduler configuration.", setSchedulerConfig).params("cas"),

		raw(fetch, "/v1/operator/snapshot", SaveSnapshot, "Returns a snapshot of the state: a compressed tar archive, whose checksum is in the header `Digest`.", "application/gzip", saveSnapshot),
		speaking[none, api.RestoreResponse](raw(put, "/v1/operator/snapshot", Management, "Replaces the state of all servers with the snapshot in the body. The cluster keeps its certificate authority, tokens, servers and excluded members.", "application/json", restoreSnapshot)),
		plain("/v1/operator/snapshot/schedule", ReadOperator, "Lists the servers' schedules of snapshots, each with its newest file and its last failure.", getSnapshotSchedules).ofLeader(),

		speaking[none, api.RequestRecords](raw(fetch, requestLogPath, Management, "Returns records of requests that a server received, newest first: who sent what from where, and what became of it. `member` is the id of another server.", "application/json", getRequestLog).params("member", "caller", "route", "refused", "since", "per_page", "next_token").local()),
		plain("/v1/servers", ReadNode, "Lists the servers of the cluster, with their health in the leader's view.", getServers).ofLeader(),
		plain("/v1/operator/attention", ReadOperator, "Lists conditions of the cluster that wait for a person: a quorum at risk, servers and certificates, refused machines.", getAttention).ofLeader(),
		write(del, "/v1/server/{id}", WriteOperator, "Removes a server, and excludes it permanently.", removeServer).params("reason"),
		write(put, "/v1/server/{id}/leave", WriteOperator, "Removes a server from the replicated log: it remains a member and may join again.", leaveServer),
		write(put, "/v1/server/{id}/promote", WriteOperator, "Lets a server vote, without waiting until it is stable.", promoteServer),
		raw(put, "/v1/server/heartbeats", BeServer, "Tells the leader which of the nodes that are connected to another server sent heartbeats.", nodeproto.Media, takeHeartbeats).upTo(nodeBodyLimit).forServers().anyServer(),
		raw(put, "/v1/server/reports", BeServer, "Gives the leader the reports of nodes that are connected to another server.", nodeproto.Media, takeReports).upTo(reportsBodyLimit).forServers().anyServer(),
		raw(put, remote.PollPath, BeServer, "Gives the workers of another server evaluations to process.", octets, pollEvaluations).upTo(remote.MaxPollBytes).forServers().anyServer(),
		raw(put, remote.AnswerPath, BeServer, "Commits the placements of another server's workers.", octets, answerEvaluations).upTo(remote.MaxAnswerBytes).forServers().anyServer(),
		speaking[none, api.ReadIndex](raw(fetch, readIndexPath, BeServer, "Returns the index in the log that another server must have applied to answer a read.", "application/json", getReadIndex)).forServers().anyServer(),
		plain("/v1/operator/raft/configuration", ReadOperator, "Returns the servers of the replicated log.", getRaftConfig).ofLeader(),
		write(del, "/v1/operator/raft/peer", WriteOperator, "Removes a server from the replicated log.", removePeer).params("id", "address"),
		write(put, "/v1/operator/raft/transfer-leadership", WriteOperator, "Transfers leadership to a server; without `id` and `address`, to the voter with the most complete log.", transferLeadership).params("id", "address"),
		read("/v1/operator/autopilot/configuration", ReadOperator, "Returns the configuration of what the leader does about servers.", getAutopilot).blocking(autopilots),
		write(put, "/v1/operator/autopilot/configuration", WriteOperator, "Sets the configuration of what the leader does about servers.", setAutopilot).taking(reflect.TypeFor[api.AutopilotConfig]()).params("cas"),
		speaking[none, api.AutopilotHealth](raw(fetch, "/v1/operator/autopilot/health", ReadOperator, "Returns the health of the servers; 429 if one is unhealthy.", "application/json", getAutopilotHealth)).ofLeader(),
		list("/v1/acl/policies", OwnToken, "Lists policies by name; without management those of the caller's token, and of namespaces in which it has `delegate`.", policiesInOrder, listACLPolicies, showACLPolicy).blocking(aclPolicies),
		read("/v1/acl/policy/self", OwnToken, "Returns the policies of the caller's token.", getOwnACLPolicies).blocking(state.ACLTables...),
		read("/v1/acl/policy/{id}", OwnToken, "Returns a policy; without management only one of the caller's token, or of a namespace in which it has `delegate`.", getACLPolicy).blocking(aclPolicies),
		write(put, "/v1/acl/policy/{id}", Delegate, "Creates or updates a policy under its name. Without management, it belongs to a namespace in which the caller has `delegate`, and grants at most what the caller may do.", putACLPolicy),
		write(del, "/v1/acl/policy/{id}", Delegate, "Deletes a policy: tokens that name it lose its rights.", deleteACLPolicy),
		list("/v1/acl/roles", Management, "Lists roles by id.", rolesInOrder, listACLRoles, showACLRole).blocking(aclRoles),
		write(put, "/v1/acl/role", Management, "Creates a role: policies that tokens share.", createACLRole),
		read("/v1/acl/role/{id}", Management, "Returns a role.", getACLRole).blocking(aclRoles),
		read("/v1/acl/role/name/{id}", Management, "Returns the role of a name.", getNamedACLRole).blocking(aclRoles),
		write(put, "/v1/acl/role/{id}", Management, "Updates a role.", updateACLRole),
		write(del, "/v1/acl/role/{id}", Management, "Deletes a role: tokens that name it lose its rights.", deleteACLRole),
		list("/v1/acl/tokens", Delegate, "Lists tokens by accessor id, without their secrets; without management those of namespaces in which the caller has `delegate`.", tokensInOrder, listACLTokens, showACLToken).blocking(aclTokens),
		write(put, "/v1/acl/token", Delegate, "Creates a token. Only this response contains its secret. Without management, it belongs to a namespace in which the caller has `delegate`, and has at most the caller's rights.", createACLToken),
		read("/v1/acl/token/self", OwnToken, "Returns the caller's token, without its secret.", getOwnACLToken).blocking(aclTokens),
		read("/v1/acl/token/{id}", Delegate, "Returns a token by its accessor id, without its secret.", getACLToken).blocking(aclTokens),
		write(put, "/v1/acl/token/{id}", Management, "Changes the name, policies and roles of a token.", updateACLToken),
		write(del, "/v1/acl/token/self", OwnToken, "Deletes the caller's token, as `reeve logout` does: its bearer loses all rights.", deleteOwnACLToken),
		write(del, "/v1/acl/token/{id}", Delegate, "Deletes a token: its bearer loses all rights.", deleteACLToken),
		write(put, "/v1/acl/token/onetime", OwnToken, "Creates a one-time token, which stands for the caller's token for 10 minutes. Only this response contains it.", createOneTimeToken),
		write(put, "/v1/acl/token/onetime/exchange", Anonymous, "Returns the token for which a one-time token stands, with a new secret. The one-time token in the body permits it, once.", exchangeOneTimeToken).strict().upTo(loginBodyLimit).open().limited(limit.Login),
		write(put, "/v1/acl/bootstrap", Anonymous, "Returns another management token, if the reset file on the leader permits it: the founding of the cluster created the first.", bootstrapACL).bodyOptional().strict().upTo(loginBodyLimit).open().limited(limit.Login),
		read("/v1/acl/auth-methods", Anonymous, "Lists auth methods by name: how users of identity providers get tokens.", listAuthMethods).open().limited(limit.Login),
		write(put, "/v1/acl/auth-method", Management, "Creates an auth method.", createAuthMethod),
		read("/v1/acl/auth-method/{id}", Management, "Returns an auth method, without its secret.", getAuthMethod).blocking(authMethods),
		write(put, "/v1/acl/auth-method/{id}", Management, "Updates an auth method. The secret `redacted` stands for the stored one.", updateAuthMethod),
		write(del, "/v1/acl/auth-method/{id}", Management, "Deletes an auth method without binding rules.", deleteAuthMethod),
		list("/v1/acl/binding-rules", Management, "Lists binding rules by id.", rulesInOrder, listBindingRules, showBindingRule).blocking(bindingRules),
		write(put, "/v1/acl/binding-rule", Management, "Creates a binding rule: it gives rights to users of an auth method.", createBindingRule),
		read("/v1/acl/binding-rule/{id}", Management, "Returns a binding rule.", getBindingRule).blocking(bindingRules),
		write(put, "/v1/acl/binding-rule/{id}", Management, "Updates a binding rule.", updateBindingRule),
		write(del, "/v1/acl/binding-rule/{id}", Management, "Deletes a binding rule.", deleteBindingRule),
		write(put, "/v1/acl/login", Anonymous, "Returns a token for the user that a token of an identity provider names. Only this response contains its secret.", loginWithToken).strict().upTo(loginBodyLimit).open().limited(limit.Login),
		write(put, "/v1/acl/oidc/auth-url", Anonymous, "Begins a login in a browser: returns the address at which the user logs in to the identity provider.", beginOIDC).strict().upTo(loginBodyLimit).open().limited(limit.Login),
		write(put, "/v1/acl/oidc/complete-auth", Anonymous, "Completes a login in a browser, and returns a token. Only this response contains its secret.", completeOIDC).strict().upTo(loginBodyLimit).open().limited(limit.Login),
		read("/v1/acl/explain", OwnToken, "Returns whether a token may do something, and the rule that decides; by default the caller's token.", explainACL).params("capability", "accessor", "path", "name"),

		plain("/v1/cluster/ca", Anonymous, "Returns the certificates by which machines verify the members of this cluster.", getClusterCA).open().anyServer(),
		plain("/v1/cluster/ca/status", ReadOperator, "Returns the roots of the cluster, and the members that wait for a certificate of the newest.", getCAStatus),
		write(put, "/v1/cluster/ca/rotate", WriteOperator, "Replaces the root of the cluster: members renew their certificates. `Finish` drops the old root before all of them did.", rotateCA).strict().bodyOptional(),
		write(put, "/v1/cluster/join", Anonymous, "Makes a machine a member of the cluster. The join token in the body permits it.", joinCluster).strict().upTo(joinBodyLimit).open(),
		write(put, "/v1/cluster/renew", BeNode, "Returns a new certificate of the member that asks, and the current roots.", renewCertificate).strict().upTo(joinBodyLimit).forNodes(anyNode).renewing(),
		write(put, "/v1/cluster/announce", BeNode, "Records the address and version of the server that sends the request.", announceServer).strict().upTo(joinBodyLimit),
		plain("/v1/cluster/tokens", Management, "Returns the tokens with which machines join the cluster.", getJoinTokens),
		write(put, "/v1/cluster/token/{id}/rotate", Management, "Replaces the join token of servers (`server`) or nodes (`node`). Members stay members.", rotateJoinToken),
		write(put, "/v1/acl/identity/client-introduction-token", WriteNode, "Returns an introduction token: a join token of nodes for one pool, and for one name if `NodeName` is set, with a lifetime of `TTL` (default 5m, at most 30m).", introduceNode).strict(),
		write(put, "/v1/cluster/operator-token/rotate", Management, "Returns a new operator's token. All earlier ones become invalid.", rotateOperatorToken),
		read("/v1/cluster/revocations", ReadOperator, "Lists the members that were removed from the cluster.", getRevocations).blocking(revocations),
		write(put, "/v1/cluster/member/{id}/revoke", WriteOperator, "Excludes a node from the cluster: its certificate is no longer accepted.", revokeMember).strict().bodyOptional(),

		plain("/v1/status/leader", Anonymous, "Returns the leader's address.", getLeader).open().anyServer(),
		plain("/v1/status/peers", Anonymous, "Returns the servers' addresses.", getPeers).anyServer().forNodes(anyNode),
		plain("/v1/regions", Anonymous, "Returns the names of the regions.", getRegions).anyServer(),
		plain("/v1/agent/self", ReadAgent, "Returns the description of the answering agent.", getSelf).local(),
		plain("/v1/agent/router", ReadAgent, "Returns the state of the answering agent's router: its routes, their instances and traffic.", getRouter).local(),
		plain("/v1/agent/snapshots", ReadAgent, "Returns the answering server's schedule of snapshots.", getSnapshotSchedule).local(),
		raw(fetch, "/v1/agent/debug", WriteOperator, "Returns one part of what an agent reports for support: `self`, `metrics`, `log`, `goroutines`, `heap` or `profile`. `member` is the id of another server or node.", octets, getDebug).params("part", "member", "seconds").local(),
		plain("/v1/agent/members", ReadAgent, "Lists the servers.", getMembers).ofLeader(),
		plain("/v1/agent/servers", ReadAgent, "Lists the addresses of the servers that the answering agent knows.", getAgentServers).local(),
		write(put, "/v1/agent/servers", WriteOperator, "Replaces the addresses of servers that the answering agent knows. Each must prove to be a server of the cluster.", setAgentServers).params("address").local(),
		write(put, "/v1/agent/force-leave", WriteOperator, "Removes a failed server from the replicated log.", forceLeave).params("node", "prune"),
		speaking[none, api.AgentHealth](raw(fetch, "/v1/agent/health", Anonymous, "Returns the health of the answering agent; 500 if it is unhealthy.", "application/json", getHealth).params("type").local().open()),
		list("/v1/namespaces", ReadJob, "Lists the namespaces by name.", namespacesByName, listNamespaces, showNamespace).blocking(namespaces),
		write(put, "/v1/namespaces", Delegate, "Creates or changes a namespace.", putNamespace).params("cas"),
		write(put, "/v1/namespace", Delegate, "Creates or changes a namespace.", putNamespace).params("cas"),
		read("/v1/namespace/{id}", ReadJob, "Returns a namespace.", getNamespace).blocking(namespaces).nested(),
		write(put, "/v1/namespace/{id}", Delegate, "Creates or changes a namespace under its name.", putNamedNamespace).params("cas").nested(),
		write(del, "/v1/namespace/{id}", Delegate, "Deletes a namespace without jobs and children.", deleteNamespace).params("cas").nested(),
		list("/v1/quotas", ReadQuota, "Lists quotas by name; without `quota:read` those of namespaces in which the caller has a capability.", quotasByName, listQuotas, showQuota).blocking(quotas, namespaces),
		list("/v1/quota-usages", ReadQuota, "Lists what counts against each quota, by the quota's name.", quotasByName, listQuotas, showQuotaUsage).blocking(quotas, namespaces, allocations),
		write(put, "/v1/quota", WriteQuota, "Creates or changes a quota.", putQuota).params("cas"),
		read("/v1/quota/{id}", ReadQuota, "Returns a quota.", getQuota).blocking(quotas, namespaces),
		read("/v1/quota/usage/{id}", ReadQuota, "Returns what counts against a quota, with the 100 largest jobs that the caller may read.", getQuotaUsage).blocking(quotas, namespaces, allocations),
		write(put, "/v1/quota/{id}", WriteQuota, "Creates or changes a quota under its name.", putNamedQuota).params("cas"),
		write(del, "/v1/quota/{id}", WriteQuota, "Deletes a quota that no namespace names.", deleteQuota),
		speaking[none, api.MetricsSummary](raw(fetch, "/v1/metrics", Anonymous, "Returns the agent's metrics, by Nomad's names.", "application/json", getMetrics).params("format").local()),
		write(put, "/v1/search", ReadJob, "Returns ids with a prefix by kind, at most 20 of each.", search).reading().limited(limit.Search),
		write(put, "/v1/system/gc", Management, "Deletes all ended objects.", collectGarbage),
		raw(fetch, "/v1/openapi.json", Anonymous, "Returns this description of the API.", "application/json", getOpenAPI).local(),
	}
}

// paramDocs describe the query parameters that routes name.
var paramDocs = map[string]string{
	"caller":            "only requests of this caller: its kind, the name of its token, or the beginning of its accessor id",
	"route":             "only requests whose method and route, or path, contain this text",
	"refused":           "only refused requests",
	"since":             "only records since this time, as in `2026-01-02T15:04:05Z`",
	"per_page":          "at most this many (default 100, at most 1000)",
	"next_token":        "the page that begins here: `NextToken` of the page before",
	"accessor":          "of the token to explain; by default the caller's",
	"capability":        "that a rule grants, such as `submit-job`, `node:read` or `variables:read`",
	"address":           "of a server, as host:port; of `agent/servers` repeatable, and the port is 4646 by default",
	"id":                "of a server",
	"prune":             "of `force-leave`: exclude the server permanently",
	"action":            "name of an action of the task or job, whose command runs",
	"allocID":           "whole id of the allocation (default: any that runs)",
	"group":             "name of the group; optional if one action has the name",
	"all":               "include objects of earlier jobs with the same id; of domains: include stale ones",
	"by":                "the operator, unless the body has it",
	"cas":               "change only if the stored object has this modify index; 0: only if it does not exist",
	"choose":            "`N|KEY`: N registrations, always the same for a key while they exist",
	"command":           "the command, as a JSON list of strings",
	"complete":          "fail (404) if the events since `index` are no longer stored, instead of starting with the oldest stored event",
	"diffs":             "include the changes of each version",
	"domain":            "only objects of jobs in this domain; `domain=` selects jobs without a domain",
	"eval_priority":     "priority of the evaluation, 1 to 100 (default: the job's)",
	"filter":            "an expression about events, such as `Topic == \"Job\" and Payload.Job.Priority > 50`",
	"follow":            "continue with appended data",
	"format":            "of events: `ndjson` or `sse` (server-sent events; default: the header `Accept`); of metrics: `prometheus` (default: JSON)",
	"idempotency_token": "a repeated dispatch with the same token returns the same child; also `IdempotencyToken` of the body",
	"index":             "of events: start at this index; 0 starts with the oldest stored event (default: new events only); of other streams, with `timeline`: the last index that the reader received",
	"include_children":  "include child jobs",
	"unit":              "only those of this unit",
	"stack":             "only records of this stack",
	"shift":             "only records of this shift",
	"dry_run":           "decide without changing anything",
	"now":               "without the grace",
	"instance":          "only this instance: `GROUP-INDEX`, or an index",
	"job":               "only objects of this job",
	"limit":             "maximum number of bytes (default, and 0 or less: no limit)",
	"member":            "id of another server or node; of `operator/audit` of a server",
	"meta":              "include the jobs' meta",
	"no_shutdown_delay": "skip the shutdown delays",
	"node":              "only objects on this node: its id, or a prefix of it; of `force-leave`: name or id of the server",
	"node_id":           "id of the node (default: the answering agent's node); of volumes: only those on nodes whose ids begin with it",
	"node_pool":         "only volumes on nodes of this pool",
	"job_id":            "only claims of this job",
	"task_group":        "only claims of this group",
	"volume_name":       "only claims on volumes of this name",
	"offset":            "offset from the origin, in bytes",
	"origin":            "`start` or `end`; of a log, offset 0 from the end is the start of its newest file",
	"os":                "include the name of the operating system",
	"part":              "`self`, `metrics`, `log`, `goroutines`, `heap` or `profile`",
	"path":              "path of the file, relative to the allocation's directory; of `acl/explain`: of a variable",
	"name":              "of the node pool or the host volume; of volumes: only those of this name",
	"algo":              "algorithm of a root key: `aes256-gcm`",
	"force":             "of a root key: also delete the variables that it encrypts; of a volume: forget it if its node does not answer, and leave its data there",
	"full":              "also encrypt all variables with the new key, in the background",
	"lock-acquire":      "take the lock of the variable, with the times in `Lock` of the body",
	"lock-release":      "end the lock whose ID is in `Lock` of the body",
	"lock-renew":        "extend the lock whose ID is in `Lock` of the body",
	"publish_time":      "when the new key becomes active: Unix time in nanoseconds (default: immediately)",
	"phase":             "name or id of the phase, unless the body has it",
	"plain":             "send raw bytes instead of frames",
	"presence":          "only instances with this presence: `ordinary`, `evacuating` or `suspect`",
	"progress":          "heartbeats contain the progress of the stream: `{\"Index\":118}` instead of `{}`",
	"purge":             "delete the job after its allocations have stopped",
	"reason":            "the reason, unless the body has it",
	"related":           "include stubs of related evaluations",
	"reschedule":        "count the replacement as an attempt of the `reschedule` block, and avoid the node",
	"resources":         "include allocated resources",
	"seconds":           "length of a profile, above 0 and at most 30",
	"snapshot":          "start with all objects of the topics, and send them again after missed events",
	"state":             "only instances in this state: `UNCLAIMED`, `CLAIMED`, `RUNNING`, `CRASHED` or `COMPLETE`",
	"status":            "only objects with this status",
	"step":              "name or id of the step, unless the body has it",
	"tag":               "only registrations with this tag; repeat for registrations with all tags",
	"task":              "name of the task",
	"task_states":       "of allocations: `false` omits the tasks' states; of instances: include them",
	"timeline":          "timeline of the data that the reader received before, from the header `X-Reeve-Timeline` or the stream; a timeline outside of the servers' history is reported or rejected",
	"topic":             "`TOPIC` or `TOPIC:KEY`, repeatable; topics are " + strings.Join(eventstream.TopicNames(), ", ") + " and `*`; a key is an id, for allocations and evaluations also their job's or deployment's",
	"tty":               "run the command on a terminal",
	"ws_handshake":      "the first message of the websocket contains the token, for pages, which set no header",
	"type":              "of logs `stdout` or `stderr`; of health `client` or `server`; of scaling policies `horizontal`; of volumes `host` or `csi`",
	"version":           "version of the job (default: the current version; of troubles: all)",
}
