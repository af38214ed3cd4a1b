// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/eventstream"
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
	uninstalled = state.TableUninstalled
)

// planTables are what plans and instances are derived from.
var planTables = []state.Table{jobs, allocations, evaluations, deployments, nodes, decisions, restarts, uninstalled}

// routes is the table: every route there is.
func routes() []route {
	return []route{
		list("/v1/jobs", ReadJob, "Lists jobs by namespace and id.", jobsByName, listJobs, showJob).blocking(jobs, allocations, evaluations).params("meta", "domain"),
		write(put, "/v1/jobs", SubmitJob, "Registers a job: it should run as written.", registerJob),
		answering[[]*api.JobOverview]("/v1/jobs/statuses", ReadJob, "Shows jobs with their allocations and latest deployments, by their last change.", listJobStatuses).blocking(jobs, allocations, deployments, evaluations).filtered().params("include_children"),
		answering[[]*api.JobOverview]("/v1/jobs/statuses", ReadJob, "Shows the jobs that the body names so.", findJobStatuses).taking(reflect.TypeFor[api.JobStatusesRequest]()).blocking(jobs, allocations, deployments, evaluations).filtered().bodyOptional(),
		write(put, "/v1/jobs/parse", Anonymous, "Turns a job file (HCL, JSON or YAML) into a job.", parseJob),
		write(put, "/v1/validate/job", ReadJob, "Validates a job and returns its errors.", validateJob),

		read("/v1/job/{id}", ReadJob, "Returns a job's current version.", getJob).blocking(jobs),
		write(put, "/v1/job/{id}", SubmitJob, "Registers a job under its id.", registerNamedJob),
		write(patch, "/v1/job/{id}", SubmitJob, "Changes a job without restarting its instances: annotation, counts, routes, metric tags, service tags, meta and checks.", changeJob),
		write(del, "/v1/job/{id}", SubmitJob, "Stops a job, and forgets it when asked to; of a job that is not known, nothing is to do.", deregisterJob).params("purge", "no_shutdown_delay", "eval_priority"),
		write(put, "/v1/job/{id}/plan", SubmitJob, "Returns what registering a job would change.", planJob),
		read("/v1/job/{id}/allocations", ReadJob, "Lists a job's allocations.", getJobAllocations).blocking(allocations).params("all", "resources", "task_states"),
		read("/v1/job/{id}/evaluations", ReadJob, "Lists a job's evaluations.", getJobEvaluations).blocking(evaluations),
		read("/v1/job/{id}/summary", ReadJob, "Counts a job's allocations by group and status.", getJobSummary).blocking(jobs, allocations, evaluations),
		read("/v1/job/{id}/explain", ReadJob, "Returns the nodes that could run another instance of each group, and every obstacle on the others.", explainJob),
		read("/v1/job/{id}/versions", ReadJob, "Lists a job's versions, newest first, with their differences when asked to.", getJobVersions).blocking(versions, jobs).params("diffs"),
		read("/v1/job/{id}/submission", ReadJob, "Returns the text that a version was registered from.", getJobSubmission).blocking(versions, jobs).params("version"),
		read("/v1/job/{id}/deployments", ReadJob, "Lists a job's deployments, newest first.", getJobDeployments).blocking(deployments).params("all"),
		read("/v1/job/{id}/deployment", ReadJob, "Returns a job's newest deployment, null when it had none.", getJobDeployment).blocking(deployments),
		read("/v1/job/{id}/scale", ReadJob, "Returns the counts of a job's groups, and how they were changed.", getJobScale).blocking(jobs, allocations, scaling),
		write(put, "/v1/job/{id}/scale", ScaleJob, "Sets the count of one group.", scaleJob),
		write(put, "/v1/job/{id}/revert", SubmitJob, "Runs an older version again, as a new version.", revertJob),
		write(put, "/v1/job/{id}/stable", SubmitJob, "Marks a version as one to revert to, or not.", setJobStable),
		write(put, "/v1/job/{id}/dispatch", SubmitJob, "Starts a parameterized job with meta and a payload.", dispatchJob).bodyOptional().params("idempotency_token"),
		read("/v1/job/{id}/dispatch/payload", ReadJob, "Returns what a job was dispatched with.", getDispatchPayload).blocking(jobs),
		write(put, "/v1/job/{id}/periodic/force", SubmitJob, "Starts a periodic job now.", forcePeriodic),
		write(put, "/v1/job/{id}/evaluate", SubmitJob, "Evaluates a job again.", evaluateJob).bodyOptional(),

		read("/v1/plans", ReadJob, "Lists the plans of all jobs, without their phases, by job and priority.", listPlans).blocking(planTables...).filtered().params("status"),
		read("/v1/job/{id}/plans", ReadJob, "Lists a job's plans, without their phases, by priority.", getJobPlans).blocking(planTables...).filtered().params("status"),
		read("/v1/job/{id}/plan/{plan}", ReadJob, "Returns a job's plan, by name or id: its phases, its steps, and what was decided on it.", getJobPlan).blocking(planTables...),
		write(put, "/v1/job/{id}/plan/{plan}/{verb}", SubmitJob, "Applies a verb to a plan, or to a phase or step of it: `start`, `stop`, `continue`, `interrupt`, `restart`, `force-complete`.", planVerb).strict().bodyOptional().params("phase", "step", "by", "reason"),
		read("/v1/job/{id}/decisions", ReadJob, "Lists what operators decided about a job's plans and instances, oldest first.", getJobDecisions).blocking(decisions, jobs).filtered(),
		read("/v1/job/{id}/instances", ReadJob, "Lists a job's instances by group and index.", getJobInstances).blocking(planTables...).filtered().params("state", "presence", "instance"),
		read("/v1/job/{id}/instance/{name}", ReadJob, "Returns a job's instance: `GROUP-INDEX`, or the bare index if the job has one group.", getJobInstance).blocking(planTables...),
		read("/v1/job/{id}/troubles", ReadJob, "Lists what keeps a job's instances from being as they should be, now: the most telling first, and once for all instances that have the same trouble.", getJobTroubles).blocking(planTables...).params("instance", "version"),
		write(del, "/v1/job/{id}/instance/{name}", AllocLife, "Stops what holds an instance; nothing else is changed, so another allocation takes its place at once.", killInstance).params("no_shutdown_delay"),
		write(put, "/v1/job/{id}/instance/{name}/{verb}", AllocLife, "Applies a verb to an instance: `restart` (in place), `replace` (on any node, with empty directories), `pause`, `resume`.", instanceVerb).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/job/{id}/restart", AllocLife, "Restarts a job's allocations in place, batch by batch.", startRestart).strict().bodyOptional(),
		read("/v1/job/{id}/restarts", ReadJob, "Lists a job's restarts, newest first.", getJobRestarts).blocking(restarts),
		read("/v1/job/{id}/restart/{rid}", ReadJob, "Returns a job's restart.", getJobRestart).blocking(restarts),
		write(del, "/v1/job/{id}/restart/{rid}", AllocLife, "Cancels a restart: it begins nothing new, and cannot be resumed.", cancelRestart).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/job/{id}/restart/{rid}/pause", AllocLife, "Pauses a restart.", pauseRestart).strict().bodyOptional().params("by", "reason"),
		write(put, "/v1/job/{id}/restart/{rid}/resume", AllocLife, "Resumes a paused restart.", resumeRestart).strict().bodyOptional().params("by", "reason"),
		read("/v1/job/{id}/callbacks", ReadJob, "Lists whom a job's end was told, or is to be, newest first.", getJobCallbacks).blocking(callbacks),
		list("/v1/callbacks", ReadJob, "Lists callbacks, oldest first.", callbacksByTime, listCallbacks, showCallback).blocking(callbacks).params("job", "status"),
		read("/v1/callback/{id}", ReadJob, "Returns a callback: the outcome of a job, the receiver, and the state of its delivery.", getCallback).blocking(callbacks),
		list("/v1/restarts", ReadJob, "Lists restarts, oldest first.", restartsByTime, listRestarts, showRestart).blocking(restarts).params("job", "status"),
		read("/v1/restart/{id}", ReadJob, "Returns a restart.", getRestart).blocking(restarts),

		read("/v1/instances", ReadJob, "Lists the instances of all jobs, by job, group and index: what runs, what should, and where.", listInstances).blocking(planTables...).filtered().params("domain", "job", "node", "state", "presence", "instance"),
		list("/v1/allocations", ReadJob, "Lists allocations, oldest first.", allocationsByTime, listAllocations, showAllocation).blocking(allocations).params("resources", "task_states"),
		read("/v1/allocation/{id}", ReadJob, "Returns an allocation with its job.", getAllocation).blocking(allocations),
		write(put, "/v1/allocation/{id}/stop", AllocLife, "Stops an allocation; its instance is placed again.", stopAllocation).params("no_shutdown_delay", "reschedule"),

		list("/v1/evaluations", ReadJob, "Lists evaluations, oldest first.", evaluationsByTime, listEvaluations, showEvaluation).blocking(evaluations).params("job", "status"),
		write(del, "/v1/evaluations", WriteOperator, "Deletes evaluations, by id or by filter; 409 for one that a worker is processing.", deleteEvaluations),
		write(put, "/v1/evaluation/{id}/unblock", SubmitJob, "Retries a blocked evaluation now, regardless of what it waits for.", unblockEvaluation),
		read("/v1/evaluations/count", ReadJob, "Counts evaluations.", countEvaluations).blocking(evaluations).filtered().params("job", "status"),
		read("/v1/evaluation/{id}", ReadJob, "Returns an evaluation, with stubs of its relatives when asked to.", getEvaluation).blocking(evaluations).params("related"),
		read("/v1/evaluation/{id}/allocations", ReadJob, "Lists the allocations that an evaluation made or changed: none of one that is not known.", getEvaluationAllocations).blocking(allocations, evaluations).params("resources", "task_states"),

		list("/v1/deployments", ReadJob, "Lists deployments, oldest first.", deploymentsByTime, listDeployments, showDeployment).blocking(deployments),
		read("/v1/deployment/{id}", ReadJob, "Returns a deployment.", getDeployment).blocking(deployments),
		read("/v1/deployment/allocations/{id}", ReadJob, "Lists a deployment's allocations.", getDeploymentAllocations).blocking(allocations, deployments).params("resources", "task_states"),
		write(put, "/v1/deployment/fail/{id}", SubmitJob, "Ends a deployment as failed.", failDeployment).bodyOptional(),
		write(put, "/v1/deployment/pause/{id}", SubmitJob, "Pauses or resumes a deployment.", pauseDeployment),
		write(put, "/v1/deployment/promote/{id}", SubmitJob, "Promotes a deployment's canaries: they replace the old instances.", promoteDeployment),
		write(put, "/v1/deployment/allocation-health/{id}", SubmitJob, "Sets by hand which of a deployment's allocations are healthy or unhealthy.", setAllocationHealth),
		write(put, "/v1/deployment/unblock/{id}", SubmitJob, "Lets a deployment end that waits for other regions.", unblockDeployment).bodyOptional(),

		read("/v1/routes", ReadJob, "Lists what the router is asked to do: each route of each job, by host and path, with how many of its group's instances get traffic.", listRoutes).blocking(jobs, allocations).filtered().params("job"),

		list("/v1/scaling/policies", ReadJob, "Lists the scaling policies of jobs by job and group.", policiesByName, listScalingPolicies, showScalingPolicy).blocking(scaling, jobs).params("job", "type"),
		read("/v1/scaling/policy/{id}", ReadJob, "Returns a scaling policy.", getScalingPolicy).blocking(scaling, jobs),

		answering[[]*api.ServiceListStub]("/v1/services", ReadJob, "Lists the names of the services that routable allocations offer, with their tags.", listServices).blocking(allocations).filtered(),
		answering[[]*api.ServiceRegistration]("/v1/service/{name}", ReadJob, "Lists the routable allocations that offer a service: none is an empty list.", getService).blocking(allocations).filtered().params("choose", "tag"),
		write(del, "/v1/service/{name}/{id}", SubmitJob, "Refuses to take a registration out, and says why it is there: it is derived from its allocation.", refuseServiceDelete),
		read("/v1/job/{id}/services", ReadJob, "Lists what a job's routable allocations offer.", getJobServices).blocking(allocations).filtered().params("tag"),
		read("/v1/allocation/{id}/services", ReadJob, "Lists what an allocation offers: nothing while it is not routable.", getAllocationServices).blocking(allocations).filtered().params("tag"),
		read("/v1/catalog", ReadJob, "Lists all that traffic may go to: the services and routes of each routable allocation, by allocation id.", listCatalog).blocking(allocations).filtered(),
		speaking[none, api.CatalogUpdate](raw(fetch, "/v1/catalog/stream", ReadJob, "Sends the catalog: everything first, then every change, one JSON object a line; `{}` is a heartbeat. A slow reader is resynchronized.", lines, streamCatalog).params("timeline", "index")),

		list("/v1/nodes", ReadNode, "Lists nodes by id.", nodesByID, listNodes, showNode).blocking(nodes).params("resources", "os"),
		read("/v1/node/{id}", ReadNode, "Returns a node.", getNode).blocking(nodes),
		read("/v1/node/{id}/allocations", ReadNode, "Returns a node's allocations with their jobs: none of a node that is not known.", getNodeAllocations).blocking(allocations, nodes),
		read("/v1/node/{id}/explain", ReadNode, "Returns whether a node could run another instance of each of a job's groups, and every obstacle.", explainNode).params("job"),
		write(put, "/v1/node/{id}/eligibility", WriteNode, "Sets whether new allocations may be placed on a node.", setNodeEligibility),
		write(put, "/v1/node/{id}/drain", WriteNode, "Begins a node's drain, changes its terms, or ends it.", drainNode),
		read("/v1/node/{id}/drain", ReadNode, "Tells how far a node's drain is, and what each allocation there waits for.", getNodeDrain).blocking(nodes, allocations),
		write(put, "/v1/node/{id}/evaluate", WriteNode, "Has the jobs looked at that have something on a node.", evaluateNode).bodyOptional(),
		write(put, "/v1/node/{id}/purge", WriteNode, "Forgets a node; what it ran is lost and replaced.", purgeNode).bodyOptional(),

		list("/v1/node/pools", ReadNode, "Lists node pools by name.", poolsByName, listNodePools, showNodePool).blocking(nodePools),
		write(put, "/v1/node/pools", WriteNode, "Makes or changes a node pool.", putNodePool),
		read("/v1/node/pool/{id}", ReadNode, "Returns a node pool.", getNodePool).blocking(nodePools),
		write(put, "/v1/node/pool/{id}", WriteNode, "Makes or changes a node pool under its name.", putNamedNodePool),
		write(del, "/v1/node/pool/{id}", WriteNode, "Deletes a node pool that has neither nodes nor jobs.", deleteNodePool),
		list("/v1/node/pool/{id}/nodes", ReadNode, "Lists the nodes of a node pool by id.", nodesByID, listPoolNodes, showNode).blocking(nodes).params("resources", "os"),
		list("/v1/node/pool/{id}/jobs", ReadJob, "Lists the jobs of a node pool by namespace and id.", jobsByName, listPoolJobs, showJob).blocking(jobs, allocations, evaluations).params("meta"),

		write(put, "/v1/node/{id}/register", BeNode, "A node says what it has.", registerNode),
		write(put, "/v1/node/{id}/orphans", BeNode, "A node offers what it runs although the servers do not know it.", offerOrphans).upTo(nodeBodyLimit),
		write(put, "/v1/node/{id}/heartbeat", BeNode, "A node says that it lives.", heartbeatNode),
		speaking[none, api.NodeAllocations](raw(fetch, "/v1/node/{id}/allocations/stream", BeNode, "Sends a node what it should run: everything first, then every change, one JSON object a line.", lines, streamAllocations).params("timeline", "index")),
		write(put, "/v1/node/{id}/allocations", BeNode, "A node says how its allocations are.", updateAllocations).upTo(nodeBodyLimit).encoded(),

		speaking[none, []*api.FileInfo](raw(fetch, "/v1/client/fs/ls/{alloc}", ReadFS, "Lists a directory of an allocation.", "application/json", serveNode).params("path").local()),
		speaking[none, *api.FileInfo](raw(fetch, "/v1/client/fs/stat/{alloc}", ReadFS, "Describes a file of an allocation.", "application/json", serveNode).params("path").local()),
		raw(fetch, "/v1/client/fs/cat/{alloc}", ReadFS, "Returns a file of an allocation.", octets, serveNode).params("path").local(),
		raw(fetch, "/v1/client/fs/readat/{alloc}", ReadFS, "Returns a part of a file of an allocation.", octets, serveNode).params("path", "offset", "limit").local(),
		speaking[none, api.StreamFrame](raw(fetch, "/v1/client/fs/stream/{alloc}", ReadFS, "Sends a file of an allocation, and what is appended to it, in frames.", lines, serveNode).params("path", "offset", "origin", "plain").local()),
		speaking[none, api.StreamFrame](raw(fetch, "/v1/client/fs/logs/{alloc}", ReadLogs, "Sends a task's log in frames.", lines, serveNode).params("task", "type", "follow", "offset", "origin", "plain").local()),
		speaking[api.RestartAllocationRequest, none](raw(put, "/v1/client/allocation/{alloc}/restart", AllocLife, "Restarts tasks of an allocation in place.", "application/json", serveNode).local()),
		speaking[api.SignalAllocationRequest, none](raw(put, "/v1/client/allocation/{alloc}/signal", AllocLife, "Sends a signal to tasks of an allocation.", "application/json", serveNode).local()),
		speaking[api.ExecInput, api.ExecOutput](raw(fetch, "/v1/client/allocation/{alloc}/exec", AllocExec, "Runs a command beside a task, over a websocket: messages of the body's type go in, of the answer's type come out.", "application/json", serveNode).params("task", "command", "tty").local()),
		raw(fetch, "/v1/client/allocation/{alloc}/snapshot", ReadFS, "Returns the data of an allocation that has ended as a tar archive: its alloc/data and each task's local directory.", "application/x-tar", serveNode).local(),
		speaking[none, map[string]*api.CheckStatus](raw(fetch, "/v1/client/allocation/{alloc}/checks", ReadJob, "Returns the last results of an allocation's checks.", "application/json", serveNode).local()),
		speaking[none, *api.AllocationStats](raw(fetch, "/v1/client/allocation/{alloc}/stats", ReadJob, "Returns what an allocation uses now.", "application/json", serveNode).local()),
		speaking[none, *api.HostStats](raw(fetch, "/v1/client/stats", ReadNode, "Returns what a node's machine uses now.", "application/json", serveNode).params("node_id").local()),

		speaking[none, api.EventBatch](raw(fetch, "/v1/event/stream", ReadJob, "Sends what changes as it changes, after a snapshot of what is if that is asked for: the events of each log index together, as one JSON object a line or as server-sent events.", lines, streamEvents).params(eventParams...)),

		read("/v1/orphans", ReadJob, "Lists what runs on nodes although no registered job is known to want it.", listOrphans).blocking(allocations, jobs, domains).filtered(),
		read("/v1/domains", ReadJob, "Lists the domains that are fresh, by name.", listDomains).blocking(domains).filtered().params("all"),
		read("/v1/domain/{id}", ReadJob, "Returns a domain, fresh or not; `@none` is the domain of jobs that name none.", getDomain).blocking(domains),
		write(put, "/v1/domain/{id}", SubmitJob, "Marks a domain as fresh, for a TTL or without limit: its owner confirms that all of its jobs are registered.", putDomain).strict().bodyOptional(),
		write(del, "/v1/domain/{id}", SubmitJob, "Ends the freshness of a domain before its time.", endFreshness),

		read("/v1/operator/scheduler/configuration", ReadOperator, "Returns how the cluster schedules.", getSchedulerConfig).blocking(schedulers),
		write(put, "/v1/operator/scheduler/configuration", WriteOperator, "Changes how the cluster schedules.", setSchedulerConfig).params("cas"),

		plain("/v1/status/leader", Anonymous, "Returns the leader's address.", getLeader).open(),
		plain("/v1/status/peers", Anonymous, "Returns the servers' addresses.", getPeers),
		plain("/v1/regions", Anonymous, "Returns the names of the regions.", getRegions),
		plain("/v1/agent/self", ReadAgent, "Returns what the answering agent says of itself.", getSelf).local(),
		plain("/v1/agent/router", ReadAgent, "Returns the answering agent's router: its routes, their instances, and what went through.", getRouter).local(),
		plain("/v1/agent/members", ReadAgent, "Lists the servers.", getMembers),
		speaking[none, api.AgentHealth](raw(fetch, "/v1/agent/health", Anonymous, "Returns the health of the answering agent; 500 if it is unhealthy.", "application/json", getHealth).params("type").local().open()),
		read("/v1/namespaces", Anonymous, "Lists the namespaces.", listNamespaces),
		read("/v1/namespace/{id}", Anonymous, "Returns a namespace.", getNamespace),
		speaking[none, api.MetricsSummary](raw(fetch, "/v1/metrics", Anonymous, "Returns what the agent measures, by Nomad's names.", "application/json", getMetrics).params("format").local()),
		raw(fetch, "/.well-known/jwks.json", Anonymous, "Returns the keys that sign tasks' identities: none, because tasks have none.", "application/json", getKeys).local(),
		write(put, "/v1/search", ReadJob, "Returns the ids that begin with a prefix, by kind, 20 each at most.", search),
		write(put, "/v1/system/gc", WriteOperator, "Takes out everything that has ended, however young.", collectGarbage),
		raw(fetch, "/v1/openapi.json", Anonymous, "Returns this description of the API.", "application/json", getOpenAPI).local(),
	}
}

// paramDocs describe the query parameters that routes name.
var paramDocs = map[string]string{
	"all":               "also those of an earlier job of the same id; of domains: also those that are not fresh",
	"by":                "who decides, when the body does not say it",
	"cas":               "only if the stored configuration has this modify index",
	"choose":            "`N|KEY`: only N of them, always the same for a key as long as those are there",
	"command":           "what to run, as a JSON list of strings",
	"complete":          "refuse (404) when the events since `index` are not kept any more, rather than begin with the oldest that are",
	"diffs":             "with what each version changed",
	"domain":            "only those of jobs of this domain; `domain=` of those that name none",
	"eval_priority":     "priority of the evaluation, 1 to 100; the job's when absent",
	"filter":            "an expression about events, such as `Topic == \"Job\" and Payload.Job.Priority > 50`",
	"follow":            "continue with appended data",
	"format":            "of events: `ndjson` or `sse` (server-sent events); by the header `Accept` when absent; of metrics: `prometheus`, or JSON when absent",
	"idempotency_token": "dispatching again with the same answers with the same child; also `IdempotencyToken` of the body",
	"index":             "of events: begin with those of this index, with the oldest that are kept when 0, with what happens from now on when absent; of other streams, with `timeline`: up to which the reader was told before",
	"include_children":  "also jobs that other jobs started",
	"instance":          "only this one: `GROUP-INDEX`, or an index",
	"job":               "only those of this job",
	"limit":             "bytes at most; no limit when absent or not above 0",
	"meta":              "with the jobs' meta",
	"no_shutdown_delay": "do not wait the shutdown delays",
	"node":              "only those on this node: its id, or the beginning of it",
	"node_id":           "which node; the answering agent's own when absent",
	"offset":            "bytes from the origin",
	"origin":            "`start` or `end`; of a log, offset 0 from the end is the beginning of its newest file",
	"os":                "with the name of the operating system",
	"path":              "of the file, from the allocation's directory",
	"phase":             "name or id of the phase, when the body does not say it",
	"plain":             "the bytes themselves rather than frames",
	"presence":          "only those that are `ordinary`, `evacuating` or `suspect`",
	"progress":          "signs of life say how far the stream is: `{\"Index\":118}` rather than `{}`",
	"purge":             "forget the job when nothing of it runs",
	"reason":            "why, when the body does not say it",
	"related":           "with stubs of the evaluations before, after and beside it",
	"reschedule":        "count the replacement as an attempt of the `reschedule` block, and avoid the node",
	"resources":         "with what is allocated",
	"snapshot":          "begin with all objects of the topics, and send them again whenever events were missed",
	"state":             "only those that are `UNCLAIMED`, `CLAIMED`, `RUNNING`, `CRASHED` or `COMPLETE`",
	"status":            "only those in this status",
	"step":              "name or id of the step, when the body does not say it",
	"tag":               "only those with this tag; several times: with all of them",
	"task":              "the task's name",
	"task_states":       "`false` leaves the tasks' states out",
	"timeline":          "of what the reader was told before, as the header `X-Reeve-Timeline` or the stream said it; one that has not become part of the servers' history is said or refused",
	"topic":             "`TOPIC` or `TOPIC:KEY`, several times; topics are " + strings.Join(eventstream.TopicNames(), ", ") + " and `*`; a key is an id, for allocations and evaluations also their job's or deployment's",
	"tty":               "run it on a terminal",
	"type":              "which: of logs `stdout` or `stderr`; of health `client` or `server`; of scaling policies `horizontal`",
	"version":           "of the job; when absent the current one, of troubles any",
}
