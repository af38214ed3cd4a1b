// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"testing"
)

func TestTroublesAreAskedFor(t *testing.T) {
	core := newPlanningCore()
	h := New(Config{Server: core})
	for query, want := range map[string]string{
		"":                            `troubles of "web": instance ""`,
		"?instance=web-1":             `troubles of "web": instance "web-1"`,
		"?version=0":                  `troubles of "web": instance "", version 0`,
		"?version=2&instance=web%400": `troubles of "web": instance "web@0", version 2`,
	} {
		a := request(h, http.MethodGet, "/v1/job/web/troubles"+query, "")
		if a.status != http.StatusOK || a.body != "[]\n" && a.body != "[]" {
			t.Errorf("%s: %d %q, want an empty list", query, a.status, a.body)
		}
		if core.asked != want {
			t.Errorf("%s asks for %s, want %s", query, core.asked, want)
		}
		if a.header.Get("X-Reeve-Index") == "" {
			t.Errorf("%s: no index to block on", query)
		}
	}
	if a := request(h, http.MethodGet, "/v1/job/web/troubles?version=one", ""); a.status != http.StatusBadRequest {
		t.Errorf("a version that is no number: %d %s", a.status, a.body)
	}
}
