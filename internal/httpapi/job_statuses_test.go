// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestJobStatusesShowAllocationsAndDeployments(t *testing.T) {
	h := newHarness(t)
	ids := h.populate()
	h.register("other")
	h.settle()
	var all []*api.JobOverview
	a := h.get("/v1/jobs/statuses?per_page=1&reverse=true", &all)
	if len(all) != 1 || a.header.Get("X-Nomad-Nexttoken") == "" {
		t.Fatalf("a page of one has %d, and the token %q for the next", len(all), a.header.Get("X-Nomad-Nexttoken"))
	}
	h.get("/v1/jobs/statuses", &all)
	if len(all) != 2 {
		t.Fatalf("got %d jobs, want both", len(all))
	}
	a = h.do(http.MethodPost, "/v1/jobs/statuses", `{"jobs": [{"id": "web", "namespace": "default"}, {"id": "none"}]}`)
	if err := json.Unmarshal([]byte(a.body), &all); err != nil || len(all) != 1 || a.header.Get("X-Nomad-Index") == "" {
		t.Fatalf("asking for one and for none: %d %s, %v", a.status, a.body, err)
	}
	web := all[0]
	if web.ID != "web" || web.GroupCountSum != 1 || len(web.Allocs) != 1 || web.Allocs[0].ID != ids["ALLOC"] || web.Allocs[0].NodeID != ids["NODE"] ||
		web.LatestDeployment == nil || !web.LatestDeployment.IsActive || web.ChildStatuses != nil {
		t.Errorf("the job is shown as %s", a.body)
	}
}
