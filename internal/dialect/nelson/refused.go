// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Reasons to refuse requests for parts of Nelson that Reeve does not have.
const (
	noBrowserLogin = "Reeve has no login in a browser; log in with a token: nelson login -t TOKEN HOST:PORT" + prefix
	noDrawing      = "Reeve does not draw the graph; read it with: reeve stack graph"
	noBlueprints   = "Reeve has no blueprints: a job file describes a unit completely; deploy it with: reeve stack deploy FILE"
	noRepositories = "Reeve reads no repositories and no releases: deploy a unit from its job file, for example in the release's CI: reeve stack deploy FILE"
	noAudit        = "Reeve's audit records are at /v1/audit, or: reeve stack why STACK"
	noStatistics   = "Reeve has no statistics of deployments; list stacks with: reeve stack list"
	noLoadbalancer = "load balancers are written in the job: add expose { host = \"...\" } to its stack block, and deploy the next version"
)

// refuse returns a handler of requests that Reeve cannot honour.
func refuse(reason string) func(*request) error {
	return func(*request) error { return failf(http.StatusNotImplemented, "%s", reason) }
}

func listNothing(q *request) error { return q.json(http.StatusOK, []struct{}{}) }

func noBlueprint(q *request) error {
	return failf(http.StatusNotFound, "blueprint %q not found: %s", api.Printable(q.r.PathValue("name"), 64), noBlueprints)
}

func refuseLoadbalancer(*request) error { return invalid("name", noLoadbalancer) }

func refuseManifest(*request) error {
	return failf(http.StatusBadRequest, "Reeve does not read .nelson.yml: write a job file with a stack block, and check it with: reeve stack plan FILE")
}

func refuseTemplate(*request) error {
	const text = "Reeve does not render templates of Nelson"
	return &failure{status: http.StatusBadRequest, text: text, body: struct {
		Message string `json:"message"`
		Details string `json:"details"`
	}{text, "a template block in a job file is rendered on the node; check the file with: reeve stack plan FILE"}}
}
