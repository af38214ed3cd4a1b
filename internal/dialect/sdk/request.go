// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// request is a request about a service, and its answer.
type request struct {
	core  Core
	now   func() time.Time
	w     http.ResponseWriter
	r     *http.Request
	query url.Values

	service string          // the job's id
	job     *api.Job        // as the request found it; of an uninstalled one, only what names it
	v       *state.Snapshot // that it was found in
}

// find looks up the service by the job's id, or by the id with dots instead of slashes,
// as paths contain names with folders. If uninstalled is true, it also finds recently
// uninstalled services.
func (q *request) find(service string, uninstalled bool) error {
	q.v = q.core.Store().Snapshot()
	namespace := q.query.Get("namespace")
	if namespace == "" {
		namespace = api.DefaultNamespace
	}
	name := strings.TrimPrefix(service, "/")
	q.job = q.v.Job(namespace, name)
	if first, _, dotted := strings.Cut(name, "."); q.job == nil && dotted {
		for j := range q.v.JobsPrefix(namespace, first+"/") {
			if strings.ReplaceAll(j.ID, "/", ".") == name {
				q.job = j
				break
			}
		}
	}
	if q.job == nil && uninstalled {
		q.job = q.uninstalled(namespace, name)
	}
	if q.job == nil {
		return notFound("Service", service)
	}
	q.service = q.job.ID
	return nil
}

// uninstalled returns a recently uninstalled job; nil if none has that name.
func (q *request) uninstalled(namespace, name string) *api.Job {
	found := q.v.Uninstalled(namespace, name)
	if found == nil && strings.Contains(name, ".") {
		for u := range q.v.UninstalledJobs(namespace) {
			if strings.ReplaceAll(u.JobID, "/", ".") == name {
				found = u
				break
			}
		}
	}
	if found == nil {
		return nil
	}
	return &api.Job{Namespace: found.Namespace, ID: found.JobID, Stop: true, Purge: true}
}

func failf(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

func notFound(what, name string) error {
	return failf(http.StatusNotFound, "%s %s not found", what, name)
}

// already returns the failure of a verb whose effect exists or is in progress.
func already() error {
	return failf(http.StatusAlreadyReported, "Command has already been reported or completed")
}

// json answers with an indented body.
func (q *request) json(status int, body any) error {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(body); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	q.write(status, "application/json", text.String())
	return nil
}

func (q *request) text(status int, text string) {
	q.write(status, "text/plain; charset=utf-8", text)
}

func (q *request) write(status int, kind, body string) {
	h := q.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	q.w.WriteHeader(status)
	q.w.Write([]byte(body))
}

// received answers a command that succeeded.
func (q *request) received(format string, args ...any) error {
	return q.json(http.StatusOK, struct {
		Message string `json:"message"`
	}{"Received cmd: " + fmt.Sprintf(format, args...)})
}

// by returns the author of decisions: requests of the dialect contain none.
func (q *request) by() string {
	if by := q.query.Get("by"); by != "" {
		return by
	}
	return "the SDK's API"
}
