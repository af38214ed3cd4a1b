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

// request is one request about a service being answered.
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

// find looks the service up: by the job's id, or by that with dots for slashes,
// which is how names with folders are written in paths. With uninstalled, it also
// finds services that were uninstalled a short while ago.
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

// uninstalled returns what names a job that was uninstalled a short while ago, nil
// if there is none of that name.
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

// already says that what was asked for has been done or is being done.
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

// received answers a command that was carried out.
func (q *request) received(format string, args ...any) error {
	return q.json(http.StatusOK, struct {
		Message string `json:"message"`
	}{"Received cmd: " + fmt.Sprintf(format, args...)})
}

// by is who decides: the dialect has no word for it.
func (q *request) by() string {
	if by := q.query.Get("by"); by != "" {
		return by
	}
	return "the SDK's API"
}
