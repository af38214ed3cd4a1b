// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Handler answers the dialect's paths.
type Handler struct {
	core   Core
	log    *slog.Logger
	now    func() time.Time
	routes []route
}

// New returns a handler that calls core. A nil logger discards errors.
func New(core Core, logger *slog.Logger) *Handler {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Handler{core: core, log: logger, now: time.Now, routes: routes()}
}

// A route is one row of the table: a method, a path below that of a service, and the
// function that answers.
type route struct {
	method string // POST answers PUT, too, and the other way round
	path   []string
	serve  func(*request) error
	// uninstalled reports whether the row also answers for recently uninstalled
	// services.
	uninstalled bool
}

func on(method, path string, serve func(*request) error) route {
	return route{method: method, path: strings.Split(path, "/"), serve: serve}
}

// includeUninstalled returns a row that also answers for uninstalled services.
func (rt route) includeUninstalled() route {
	rt.uninstalled = true
	return rt
}

// routes returns the table. A variable matches any segment; rows with a literal segment
// precede it.
func routes() []route {
	const get, post, put = http.MethodGet, http.MethodPost, http.MethodPut
	return []route{
		on(get, "plans", listPlans).includeUninstalled(),
		on(get, "plans/{plan}", getPlan).includeUninstalled(),
		on(post, "plans/{plan}/start", startPlan),
		on(post, "plans/{plan}/stop", stopPlan),
		on(post, "plans/{plan}/continue", continuePlan),
		on(post, "plans/{plan}/interrupt", interruptPlan),
		on(post, "plans/{plan}/forceComplete", forceCompletePlan),
		on(post, "plans/{plan}/restart", restartPlan),
		on(get, "plan", ofDeploy(getPlan)).includeUninstalled(),
		on(post, "plan/continue", ofDeploy(continuePlan)),
		on(post, "plan/interrupt", ofDeploy(interruptPlan)),
		on(post, "plan/forceComplete", ofDeploy(forceCompletePlan)),
		on(post, "plan/restart", ofDeploy(restartPlan)),

		on(get, "pod", listPods),
		on(get, "pod/status", getPodStatuses),
		on(get, "pod/{pod}/status", getPodStatus),
		on(get, "pod/{pod}/info", getPod),
		on(post, "pod/{pod}/restart", restartPod),
		on(post, "pod/{pod}/replace", replacePod),
		on(post, "pod/{pod}/pause", pausePod),
		on(post, "pod/{pod}/resume", resumePod),

		on(get, "configurations", listConfigurations),
		on(get, "configurations/targetId", getTargetID),
		on(get, "configurations/target", getTarget),
		on(get, "configurations/{id}", getConfiguration),

		on(get, "state/frameworkId", getFrameworkID),
		on(get, "state/files", listFiles),
		on(get, "state/files/{file}", getFile),
		on(put, "state/files/{file}", putFile),
		on(get, "state/zone/tasks", getTaskZones),
		on(get, "state/zone/tasks/{task}", getTaskZone),
		on(get, "state/zone/{pod}/{ip}", getAddressZone),
		on(get, "state/properties", listProperties),
		on(get, "state/properties/{property}", getProperty),
		on(put, "state/refresh", refreshState),

		on(get, "endpoints", listEndpoints),
		on(get, "endpoints/{endpoint}", getEndpoint),

		on(get, "artifacts/template/{id}/{pod}/{task}/{config}", getTemplate),

		on(get, "debug/plans", debugPlans),
		on(get, "debug/taskStatuses", debugTasks),
		on(get, "debug/reservations", debugReservations),
		on(get, "debug/threads", debugThreads),
		on(get, "debug/offers", debugOffers),

		on(get, "health", getHealth),
	}
}

// match reports whether the row matches a path, and if so sets the request's variables.
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
	switch rt.method {
	case http.MethodGet:
		return method == http.MethodGet || method == http.MethodHead
	}
	return method == http.MethodPost || method == http.MethodPut
}

// ServeHTTP answers one request about a service.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := &request{core: h.core, now: h.now, w: w, r: r, query: r.URL.Query()}
	if err := h.serve(req); err != nil {
		h.fail(req, err)
	}
}

func (h *Handler) serve(req *request) error {
	service, path, ok := cut(req.r.URL)
	if !ok {
		return failf(http.StatusNotFound, "there is nothing at %s", req.r.URL.Path)
	}
	var allowed []string
	for i := range h.routes {
		rt := &h.routes[i]
		if !rt.match(req.r, path) {
			continue
		}
		if !rt.takes(req.r.Method) {
			allowed = append(allowed, rt.method)
			continue
		}
		if err := req.find(service, rt.uninstalled); err != nil {
			return err
		}
		return rt.serve(req)
	}
	if len(allowed) > 0 {
		allow := strings.Join(slices.Compact(allowed), ", ")
		req.w.Header().Set("Allow", allow)
		return failf(http.StatusMethodNotAllowed, "%s is not for %s: use %s", req.r.URL.Path, req.r.Method, allow)
	}
	return failf(http.StatusNotFound, "there is nothing at %s", req.r.URL.Path)
}

// fail answers with an error as text. It logs errors that the server caused.
func (h *Handler) fail(req *request, err error) {
	var f *failure
	var e *api.Error
	switch {
	case errors.As(err, &f):
		req.text(f.status, f.text)
	case errors.As(err, &e) && e.Code != api.CodeInternal:
		req.text(e.Code.HTTPStatus(), e.Error())
	case req.r.Context().Err() != nil: // the caller left
	default:
		id := api.ShortID(api.NewID())
		h.log.Error("request failed", "request", id, "method", req.r.Method, "path", req.r.URL.Path, "error", err)
		req.text(http.StatusInternalServerError, "something went wrong in the server; its log says what, at request "+id)
	}
}

// failure is an answer that reports an error.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return cmp.Or(f.text, http.StatusText(f.status)) }
