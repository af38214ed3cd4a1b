// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestRequestLines(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 14, 7, 0, time.UTC)
	for want, r := range map[string]*api.RequestRecord{
		"2026-03-02 09:14:07  s2  user ana (1f3c9a2e)  10.0.0.7:514  PUT /v1/jobs [job shop] in dev  200": {
			Time: at, Server: "s2", Caller: "user", TokenName: "ana", Accessor: "1f3c9a2e-0000-0000-0000-000000000000", Address: "10.0.0.7:514",
			Method: "PUT", Path: "/v1/jobs", Object: "job shop", Namespace: "dev", Status: 200,
		},
		"2026-03-02 09:14:07  s2  unknown  -  GET /v1/x  403 refused, and 12 more failed": {
			Time: at, Server: "s2", Caller: "unknown", Method: "GET", Path: "/v1/x", Status: 403, Refused: true, Repeated: 12,
		},
		"2026-03-02 09:14:07  s2  operator  @ via node 5f3e  PUT /v1/x  outcome unknown": {
			Time: at, Server: "s2", Caller: "operator", Address: "@", Via: "5f3e", Method: "PUT", Path: "/v1/\x1b[2Jx",
		},
		"2026-03-02 09:14:07  s2  1 record was dropped": {Time: at, Server: "s2", Dropped: 1},
	} {
		if got := RequestLine(r); got != want || strings.Contains(got, "\x1b") {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
