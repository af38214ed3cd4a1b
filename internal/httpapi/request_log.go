// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditlog"
)

const requestLogPath = "/v1/operator/audit"

// getRequestLog answers with records of this server, or of the one that the query names.
func getRequestLog(c *call) error {
	if member := c.query.Get("member"); member != "" && member != c.ownID() || c.Server == nil {
		return c.debugMember(member)
	}
	if c.Audit == nil {
		return api.Errorf(api.CodeNotFound, "records of requests not found: this server keeps none, because its configuration has audit { enabled = false }")
	}
	q := auditlog.Query{Caller: c.query.Get("caller"), Namespace: c.query.Get("namespace"), Route: c.query.Get("route"), PerPage: c.perPage, NextToken: c.token}
	if q.Namespace == allNamespaces {
		q.Namespace = ""
	}
	var err error
	if q.Refused, err = c.flag("refused"); err != nil {
		return err
	}
	if s := c.query.Get("since"); s != "" {
		if q.Since, err = time.Parse(time.RFC3339, s); err != nil {
			return api.Errorf(api.CodeInvalid, "since: %q is not a time such as 2026-01-02T15:04:05Z", api.Printable(s, 64))
		}
	}
	page, err := c.Audit.Read(c.r.Context(), q)
	if err != nil {
		return err
	}
	if c.AuditSinks != nil {
		page.Sinks = c.AuditSinks()
	}
	return c.writeJSON(http.StatusOK, page)
}
