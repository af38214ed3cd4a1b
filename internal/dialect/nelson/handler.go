// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Handler answers the dialect's paths.
type Handler struct {
	core    Core
	version string
	log     *slog.Logger
	now     func() time.Time
	routes  []route
}

// New returns a handler that calls core. The version is that of the agent. A nil logger
// discards errors.
func New(core Core, version string, logger *slog.Logger) *Handler {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Handler{core: core, version: version, log: logger, now: time.Now, routes: routes()}
}

// A route is one row of the table.
type route struct {
	method string
	path   []string
	serve  func(*request) error
	open   bool // reports whether the route needs no session
}

func on(method, path string, serve func(*request) error) route {
	return route{method: method, path: strings.Split(path, "/"), serve: serve}
}

// withoutSession opens the route to clients that have not logged in.
func (rt route) withoutSession() route {
	rt.open = true
	return rt
}

// routes is the table. A variable matches any segment; rows that name the segment come first.
func routes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		on(post, "auth/github", login).withoutSession(),
		on(get, "auth/login", refuse(noBrowserLogin)).withoutSession(),
		on(get, "auth/exchange", refuse(noBrowserLogin)).withoutSession(),
		on(get, "auth/logout", logout).withoutSession(),
		on(get, "session", getSession),
		on(get, "v1/build-info", getBuildInfo),
		on(get, "v1/cleanup-policies", listPolicies),

		on(get, "v1/datacenters", listDatacenters),
		on(get, "v1/datacenters/{dc}", getDatacenter),
		on(post, "v1/datacenters/{dc}/namespaces", createNamespace),
		on(get, "v1/datacenters/{dc}/graph", getGraph),
		on(get, "v1/datacenters/{dc}/{ns}/graph", refuse(noDrawing)),
		on(get, "v1/deprecated/graph", getDeprecatedGraph),

		on(get, "v1/deployments", listDeployments),
		on(post, "v1/deployments", registerManual),
		on(get, "v1/deployments/{guid}", getDeployment),
		on(get, "v1/deployments/{guid}/runtime", getRuntime),
		on(get, "v1/deployments/{guid}/log", getLog),
		on(post, "v1/deployments/{guid}/redeploy", redeploy),
		on(post, "v1/deployments/{guid}/trafficshift/reverse", reverseShift),

		on(get, "v1/units", listUnits),
		on(post, "v1/units/deprecate", deprecateUnit),
		on(post, "v1/units/expire", expireUnit),
		on(post, "v1/units/commit", commitUnit),

		on(get, "v1/loadbalancers", listLoadbalancers),
		on(post, "v1/loadbalancers", refuseLoadbalancer),
		on(get, "v1/loadbalancers/{guid}", getLoadbalancer),
		on(del, "v1/loadbalancers/{guid}", refuseLoadbalancer),

		on(post, "v1/lint", refuseManifest),
		on(post, "v1/validate-template", refuseTemplate),
		on(get, "v1/blueprints", listNothing),
		on(post, "v1/blueprints", refuse(noBlueprints)),
		on(post, "v1/blueprints/proof", refuse(noBlueprints)),
		on(get, "v1/blueprints/{name}", noBlueprint),

		on(post, "v1/profile/sync", done),
		on(get, "v1/repos", listNothing),
		on(post, "v1/repos/{owner}/{repo}/hook", refuse(noRepositories)),
		on(del, "v1/repos/{owner}/{repo}/hook", refuse(noRepositories)),
		on(get, "v1/repos/{owner}/{repo}/releases", listNothing),
		on(get, "v1/releases", listNothing),
		on(get, "v1/releases/{id}", refuse(noRepositories)),
		on(post, "listener", refuse(noRepositories)),
		on(get, "v1/audit", refuse(noAudit)),
		on(get, "v1/statistics", refuse(noStatistics)),
	}
}

// match reports whether the row is for a path, and sets the request's variables if so.
func (rt *route) match(r *http.Request, path []string) bool {
	if len(path) != len(rt.path) {
		return false
	}
	for i, p := range rt.path {
		if !strings.HasPrefix(p, "{") && p != path[i] {
			return false
		}
	}
	for i, p := range rt.path {
		if strings.HasPrefix(p, "{") {
			r.SetPathValue(strings.Trim(p, "{}"), path[i])
		}
	}
	return true
}

func (rt *route) takes(method string) bool {
	return method == rt.method || rt.method == http.MethodGet && method == http.MethodHead
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{core: h.core, version: h.version, now: h.now, w: w, r: r, query: r.URL.Query()}
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			h.fail(q, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	if err := h.serve(q); err != nil {
		h.fail(q, err)
	}
}

func (h *Handler) serve(q *request) error {
	path, ok := cut(q.r.URL)
	if !ok {
		return noSuchPath(q)
	}
	var allowed []string
	for i := range h.routes {
		rt := &h.routes[i]
		if !rt.match(q.r, path) {
			continue
		}
		if !rt.takes(q.r.Method) {
			allowed = append(allowed, rt.method)
			continue
		}
		if !rt.open && q.token() == "" {
			return failf(http.StatusUnauthorized, "Supplied authentication token is invalid.")
		}
		return rt.serve(q)
	}
	if len(allowed) > 0 {
		slices.Sort(allowed)
		allow := strings.Join(slices.Compact(allowed), ", ")
		q.w.Header().Set("Allow", allow)
		return failf(http.StatusMethodNotAllowed, "%s does not support %s: use %s", api.Printable(q.r.URL.Path, 256), api.Printable(q.r.Method, 32), allow)
	}
	return noSuchPath(q)
}

func noSuchPath(q *request) error {
	return failf(http.StatusNotFound, "Nelson's API has no path %s; docs/nelson.md lists its paths", api.Printable(q.r.URL.Path, 256))
}

// fail answers with an error. Clients retry a request after the status 500, so errors of the server
// have another one.
func (h *Handler) fail(q *request, err error) {
	var f *failure
	var e *api.Error
	switch {
	case errors.As(err, &f):
		if f.body != nil {
			q.json(f.status, f.body)
			return
		}
		q.text(f.status, f.text)
	case errors.As(err, &e) && e.Code != api.CodeInternal && e.Code.HTTPStatus() != http.StatusInternalServerError:
		q.text(e.Code.HTTPStatus(), e.Error())
	case q.r.Context().Err() != nil: // the client left
	default:
		id := api.ShortID(api.NewID())
		h.log.Error("request failed", "request", id, "method", q.r.Method, "path", q.r.URL.Path, "error", err)
		q.text(http.StatusNotImplemented, "the server failed; its log has the reason, at request "+id)
	}
}
