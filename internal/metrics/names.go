// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

func agentSeries() []*Series {
	return of("agent",
		gauge("reeve.build_info", "1, with the version of the agent", "version"),
		gauge("reeve.uptime_seconds", "Time since the agent started"),
		gauge("reeve.metrics.groups_omitted", "Groups that nomad.nomad.job_summary counts under job=other, because of the limit of series"),
		gauge("reeve.metrics.stacks_omitted", "Stacks that the series of the router count under stack=other, because of the limit of series"),
		gauge("nomad.runtime.alloc_bytes", "Bytes of live objects in the heap"),
		gauge("nomad.runtime.sys_bytes", "Bytes of memory that the agent obtained from the operating system"),
		gauge("nomad.runtime.heap_objects", "Live objects in the heap"),
		gauge("nomad.runtime.num_goroutines", "Goroutines"),
		gauge("nomad.runtime.total_gc_runs", "Garbage collections since the start"),
		gauge("nomad.runtime.total_gc_pause_ns", "Total pause of garbage collections, in nanoseconds"),
		summary("nomad.runtime.gc_pause_ns", "Pauses of garbage collections in nanoseconds; quantiles of the last 256"),
		counter("nomad.nomad.rpc.request", "HTTP requests"),
		counter("nomad.nomad.rpc.query", "HTTP requests that only read"),
		counter("nomad.nomad.rpc.request_error", "HTTP requests that failed with a status of 5xx"),
		counter("reeve.requests.limited_total", "HTTP requests that exceeded a rate limit, with status 429, by class of requests", "class"),
		counter("reeve.audit.records_total", "Records of requests that this agent wrote"),
		counter("reeve.audit.dropped_total", "Records of requests that this agent lost, because its disk was full or slow"),
		counter("reeve.audit.sink.records_total", "Records that were delivered to the audit sink; the series exist for each sink of the configuration", "sink"),
		counter("reeve.audit.sink.failures_total", "Attempts to deliver to the audit sink that failed", "sink"),
		counter("reeve.audit.sink.gaps_total", "Times that the audit log deleted records before they were delivered to the audit sink", "sink"),
		gauge("reeve.audit.sink.waiting_bytes", "Bytes of records that are not yet delivered to the audit sink", "sink"),
		gauge("reeve.audit.sink.failing", "1 if the last attempt to deliver to the audit sink failed", "sink"),
		gauge("nomad.agent.tls.cert.expiration_seconds", "Time until the certificate of this agent expires; 0 without one"),
		gauge("nomad.agent.tls.ca.expiration_seconds", "Time until the newest root certificate of the cluster expires; 0 without one"),
		gauge("reeve.certificate.expires_timestamp_seconds", "Unix time at which the certificate of this agent expires; 0 without one"),
	)
}

func serverSeries() []*Series {
	group := []string{"namespace", "job", "task_group", "parent_id"}
	const tags = "; the static metric tags of the group are labels tag_NAME"
	return of("server",
		gauge("nomad.nomad.job_summary.queued", "Instances of the group that could not be placed"+tags, group...),
		gauge("nomad.nomad.job_summary.starting", "Allocations of the group that start"+tags, group...),
		gauge("nomad.nomad.job_summary.running", "Allocations of the group that run"+tags, group...),
		gauge("nomad.nomad.job_summary.complete", "Allocations of the group that completed"+tags, group...),
		gauge("nomad.nomad.job_summary.failed", "Allocations of the group that failed"+tags, group...),
		gauge("nomad.nomad.job_summary.lost", "Allocations of the group that were lost with their node"+tags, group...),
		gauge("nomad.nomad.job_summary.unknown", "Allocations of the group on disconnected nodes"+tags, group...),
		gauge("nomad.nomad.job_status.pending", "Pending jobs"),
		gauge("nomad.nomad.job_status.running", "Running jobs"),
		gauge("nomad.nomad.job_status.dead", "Dead jobs"),
		gauge("reeve.allocations", "Allocations of all jobs, by client status", "status"),
		gauge("reeve.allocations_unhealthy", "Allocations that crash or fail a check, by kind", "kind"),
		gauge("reeve.nodes", "Nodes by status", "status"),
		gauge("reeve.deployments", "Stored deployments by status", "status"),
		gauge("nomad.nomad.heartbeat.active", "Ready nodes"),

		gauge("nomad.nomad.broker.total_ready", "Jobs with evaluations that wait for a worker; 0 on followers, as all series of broker and blocked_evals"),
		gauge("nomad.nomad.broker.total_unacked", "Evaluations that workers process"),
		gauge("nomad.nomad.broker.total_pending", "Evaluations that wait until the job's current evaluation ends"),
		gauge("nomad.nomad.broker.total_waiting", "Evaluations that wait for a time"),
		gauge("reeve.broker.oldest_seconds", "Age of the oldest evaluation that waits for a worker"),
		gauge("nomad.nomad.blocked_evals.total_blocked", "Evaluations that wait for capacity"),
		gauge("nomad.nomad.blocked_evals.total_escaped", "Blocked evaluations that a change of any node may help"),
		gauge("nomad.nomad.blocked_evals.total_quota_limit", "Evaluations that wait for a quota"),
		gauge("nomad.nomad.blocked_evals.cpu", "MHz that instances of blocked evaluations need at least"),
		gauge("nomad.nomad.blocked_evals.memory", "MB of memory that instances of blocked evaluations need at least"),

		summary("nomad.nomad.worker.wait_for_index", "Time in ms that evaluations wait for the state of their index"),
		summary("nomad.nomad.worker.invoke_scheduler_service", "Time in ms to evaluate and place a service job"),
		summary("nomad.nomad.worker.invoke_scheduler_batch", "Time in ms to evaluate and place a batch job"),
		summary("nomad.nomad.worker.invoke_scheduler_system", "Time in ms to evaluate and place a system job"),
		summary("nomad.nomad.worker.invoke_scheduler_sysbatch", "Time in ms to evaluate and place a sysbatch job"),
		gauge("nomad.nomad.plan.queue_depth", "Placements that wait for the applier"),
		summary("nomad.nomad.plan.evaluate", "Time in ms to check a batch of placements"),
		summary("nomad.nomad.plan.submit", "Time in ms from the submission of a placement to its outcome"),
		counter("reeve.worker.evaluations_total", "Evaluations that the workers of this server have processed, on the leader and on followers"),
		counter("nomad.nomad.plan.node_rejected", "Allocations and placements that the applier refused"),
		counter("reeve.applier.refusals_total", "The same as nomad.nomad.plan.node_rejected"),

		counter("nomad.raft.apply", "Changes that this server proposed as the leader"),
		counter("nomad.raft.commitNumLogs", "Log entries that this server wrote as the leader"),
		summary("nomad.raft.commitTime", "Time in ms from the proposal of a log entry to its application"),
		gauge("nomad.raft.appliedIndex", "Index of the newest log entry in the state"),
		summary("nomad.raft.leader.lastContact", "Time in ms between two answers of a follower to this leader"),
		counter("nomad.raft.state.leader", "Times that this server became the leader"),
		counter("nomad.raft.state.candidate", "Elections in which this server stood"),
		counter("reeve.leaderships_total", "Times that this server became the leader; the sum over all servers counts the changes"),
		gauge("reeve.leader", "1 on the leader, 0 on followers"),
		gauge("reeve.leader.last_contact_seconds", "Time since the leader's last message to this follower; 0 on the leader"),
		gauge("reeve.degraded", "1 if the server's disk or state has a problem, which /v1/agent/self names; otherwise 0"),
		gauge("nomad.nomad.autopilot.healthy", "1 on a leader to which all servers are healthy, otherwise 0"),
		gauge("nomad.nomad.autopilot.failure_tolerance", "Servers that may fail without an outage; 0 on followers"),
		counter("reeve.log.entry_bytes_total", "Bytes of the log entries that this server wrote as the leader"),
		gauge("reeve.log.entry_bytes_max", "Size of the largest of these entries"),
		summary("reeve.log.sync_seconds", "Time of syncs of the log to the disk"),
		gauge("reeve.log.unapplied_entries", "Entries at the end of the log that are not in the state yet"),
		gauge("reeve.feed.lag_entries", "Log entries that the scheduler has not seen yet; 0 on followers"),
		counter("reeve.snapshots_total", "Snapshots of the state that this server took"),
		gauge("reeve.snapshot.age_seconds", "Age of the newest snapshot of the state; 0 without one"),
		gauge("reeve.scheduled_snapshot.age_seconds", "Age of the newest file that this server's schedule of snapshots saved; 0 without one"),
		gauge("reeve.scheduled_snapshot.failing", "1 if the last attempt to save a scheduled snapshot failed, otherwise 0"),
	)
}

func nodeSeries() []*Series {
	node := []string{"node_id", "datacenter", "node_class", "node_pool", "node_status", "node_scheduling_eligibility"}
	cpu, disk := append([]string{"cpu"}, node...), append([]string{"disk"}, node...)
	return of("node",
		gauge("nomad.client.allocations.pending", "Allocations of the node that start", node...),
		gauge("nomad.client.allocations.running", "Allocations of the node that run", node...),
		gauge("nomad.client.allocations.blocked", "Allocations of the node that wait for their predecessor", node...),
		gauge("nomad.client.allocations.terminal", "Ended allocations that the node keeps", node...),
		gauge("nomad.client.allocated.cpu", "MHz that allocations hold", node...),
		gauge("nomad.client.allocated.memory", "MB of memory that allocations hold", node...),
		gauge("nomad.client.allocated.disk", "MB of disk that allocations hold", node...),
		gauge("nomad.client.unallocated.cpu", "Free MHz", node...),
		gauge("nomad.client.unallocated.memory", "Free MB of memory", node...),
		gauge("nomad.client.unallocated.disk", "Free MB of disk", node...),
		gauge("nomad.client.host.cpu.total_percent", "Busy time of a core, in percent", cpu...),
		gauge("nomad.client.host.cpu.idle", "Idle time of a core, in percent", cpu...),
		gauge("nomad.client.host.memory.total", "Bytes of memory", node...),
		gauge("nomad.client.host.memory.available", "Bytes of available memory", node...),
		gauge("nomad.client.host.memory.used", "Bytes of used memory", node...),
		gauge("nomad.client.host.disk.size", "Bytes of the data directory's file system", disk...),
		gauge("nomad.client.host.disk.available", "Available bytes of the file system", disk...),
		gauge("nomad.client.host.disk.used_percent", "Used part of the file system, in percent", disk...),
		gauge("nomad.client.uptime", "Seconds since the machine booted", node...),
		gauge("reeve.node.checks", "Checks of the node's allocations, by their last result", "status"),
	)
}

func routerSeries() []*Series {
	stack := []string{"namespace", "unit", "stack", "version"}
	const others = "; stacks above the limit are stack=other"
	return of("router",
		gauge("reeve.router.connected", "1 if the router receives the catalog from a server, otherwise 0"),
		gauge("reeve.router.connections", "Open connections of clients"),
		gauge("reeve.router.problems", "Problems that prevent routes from working"),
		counter("reeve.router.requests_total", "Answered requests"),
		counter("reeve.router.refused_total", "Requests that were malformed, too large or too slow"),
		counter("reeve.router.no_route_total", "Requests without a route"),
		counter("reeve.router.tls.handshakes_total", "Connections to the address of HTTPS: terminated, passed to an instance, or without success because of an unknown_name, of a newer connection (dropped) or of another error (failed)", "result"),
		gauge("reeve.router.tls.pending", "TLS handshakes in progress"),
		gauge("reeve.router.certificates_unusable", "Certificates whose newest files or variables are not in use, or that have expired"),
		gauge("reeve.router.certificate_expires_timestamp_seconds", "Unix time at which the first of the certificates in use expires; 0 without one"),
		counter("reeve.router.stack.requests_total", "Requests to a stack"+others, stack...),
		counter("reeve.router.stack.errors_total", "Requests to a stack that failed"+others, stack...),
		summary("reeve.router.stack.seconds", "Time from a request's head to the end of the answer, without tunnels"+others, stack...),
	)
}
