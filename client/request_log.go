// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// RequestQuery selects records of requests. The zero value of a field selects all.
type RequestQuery struct {
	Member    string // id of the server that received them; "": the answering one
	Caller    string // kind, name of the token, or the beginning of its accessor id
	Route     string // a part of the route or of the path
	Refused   bool   // only refused requests
	Since     time.Time
	PerPage   int
	NextToken string
}

// Requests returns a page of the records of requests that a server received, the newest first. The
// namespace of the client, if it has one, selects those of a namespace.
func (o Operator) Requests(ctx context.Context, q RequestQuery) (*api.RequestRecords, error) {
	v := url.Values{}
	for name, value := range map[string]string{"member": q.Member, "caller": q.Caller, "route": q.Route, "next_token": q.NextToken} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Refused {
		v.Set("refused", "true")
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	if q.PerPage > 0 {
		v.Set("per_page", strconv.Itoa(q.PerPage))
	}
	resp, err := o.c.do(ctx, http.MethodGet, "/v1/operator/audit", v, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	page := new(api.RequestRecords)
	if err := json.NewDecoder(resp.Body).Decode(page); err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "read the records of requests: %v", err)
	}
	return page, nil
}
