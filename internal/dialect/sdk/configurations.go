// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"crypto/sha256"
	"net/http"
	"regexp"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// derivedID returns an id that depends only on the words.
func derivedID(words ...string) string {
	h := sha256.New()
	for _, word := range words {
		h.Write([]byte(word))
		h.Write([]byte{0})
	}
	var b [16]byte
	copy(b[:], h.Sum(nil))
	b[6] = b[6]&0x0f | 0x80 // version 8: of our own making
	b[8] = b[8]&0x3f | 0x80
	return api.FormatID(b)
}

// configurationID returns the id of a job's version.
func configurationID(job *api.Job) string {
	if job == nil {
		return ""
	}
	return derivedID("configuration", job.Namespace, job.ID, strconv.FormatUint(job.CreateIndex, 10), strconv.FormatUint(job.Version, 10))
}

// configurations returns the stored versions of the job, oldest first.
func (q *request) configurations() []*api.Job {
	var all []*api.Job
	for _, job := range q.v.JobVersions(q.job.Namespace, q.job.ID) {
		if job.CreateIndex == q.job.CreateIndex {
			all = append([]*api.Job{job}, all...)
		}
	}
	return all
}

func listConfigurations(q *request) error {
	ids := []string{}
	for _, job := range q.configurations() {
		ids = append(ids, configurationID(job))
	}
	return q.json(http.StatusOK, ids)
}

var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// configuration returns the version whose id the path contains.
func (q *request) configuration() (*api.Job, error) {
	id := q.r.PathValue("id")
	if !uuid.MatchString(id) {
		return nil, failf(http.StatusBadRequest, "%q is not the id of a configuration", id)
	}
	for _, job := range q.configurations() {
		if configurationID(job) == id {
			return job, nil
		}
	}
	return nil, notFound("Configuration", id)
}

func getConfiguration(q *request) error {
	job, err := q.configuration()
	if err != nil {
		return err
	}
	return q.json(http.StatusOK, serviceSpecOf(job))
}

func getTargetID(q *request) error {
	return q.json(http.StatusOK, []string{configurationID(q.job)})
}

func getTarget(q *request) error {
	return q.json(http.StatusOK, serviceSpecOf(q.job))
}
