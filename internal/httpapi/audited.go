// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
)

// Records of requests.
//
// The server that receives a request from its caller records it, also if another server answers. It
// records refused requests, writes, and reads of what is sensitive: secrets, files and output of tasks,
// the whole state. Allowed requests of nodes and servers are their routine, and have no records. Records
// contain neither bodies nor headers, and of the query only what auditedParams names.

// sensitive are the capabilities of reads that are recorded.
var sensitive = map[Capability]bool{
	Management: true, Delegate: true, SaveSnapshot: true, ReadFS: true, ReadLogs: true, AllocExec: true, WriteOperator: true,
	ReadVariables: true, ReadKeyring: true,
	BeNode: true, // requests of nodes have no records, but those of others who act as a node
}

// trials are writes by their method that change nothing, and show nothing that reads do not.
var trials = map[string]bool{
	"/v1/jobs/parse": true, "/v1/validate/job": true, "/v1/job/{id}/plan": true, "/v1/stacks/plan": true,
}

// isSensitive reports whether allowed requests are recorded.
func (r *route) isSensitive() bool {
	switch {
	case r.Pattern == requestLogPath, r.ForServers, trials[r.Pattern]:
		return false // who follows the records would make new ones
	case r.Method == http.MethodGet || r.Reads:
		return sensitive[r.Capability]
	}
	return true
}

// auditedParams are the parameters that records contain. None of their values can be a secret.
var auditedParams = []string{"action", "all", "allocID", "cas", "dry_run", "force", "full", "group", "id", "member", "node", "node_id", "now", "origin", "part", "path", "prune", "purge", "reschedule", "task", "type", "version"}

// objectHeader tells the server that received a write what the write created.
const objectHeader = "X-Reeve-Object"

// nameObject names the object that a write without an id in its path created or changed.
func (c *call) nameObject(kind, namespace, id string) {
	c.w.Header().Set(objectHeader, kind+"/"+url.PathEscape(namespace)+"/"+url.PathEscape(id))
}

// namedObject reads what nameObject wrote.
func namedObject(header string) (object, namespace string) {
	kind, rest, _ := strings.Cut(header, "/")
	escaped, id, found := strings.Cut(rest, "/")
	namespace, err := url.PathUnescape(escaped)
	name, idErr := url.PathUnescape(id)
	if !found || err != nil || idErr != nil {
		return "", ""
	}
	return kind + " " + name, namespace
}

// namespaceOf returns the namespace of a request; "" if its route is not about one.
func namespaceOf(r *route, q url.Values) string {
	if named := q.Get("namespace"); named != "" {
		return named
	}
	if r != nil && (r.needs.Scope() == acl.Namespace || r.needs.Scope() == acl.Variables) && (r.about == ofNamespace || r.about == ofVariable || r.about == ofBodyJob) {
		return api.DefaultNamespace
	}
	return ""
}
