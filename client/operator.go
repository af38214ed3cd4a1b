// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Operator calls the routes of the whole cluster.
type Operator struct{ c *Client }

// Operator returns the calls for the whole cluster.
func (c *Client) Operator() Operator { return Operator{c} }

// SchedulerConfig returns the scheduler's configuration.
func (o Operator) SchedulerConfig(ctx context.Context, q *QueryOptions) (*api.SchedulerConfigResponse, *QueryMeta, error) {
	return get[*api.SchedulerConfigResponse](ctx, o.c, "/v1/operator/scheduler/configuration", q)
}

// SetSchedulerConfig changes the scheduler's configuration. With checkIndex, it does so only
// if the stored configuration has that modify index, which the answer reports.
func (o Operator) SetSchedulerConfig(ctx context.Context, config *api.SchedulerConfig, checkIndex *uint64) (*api.SetSchedulerConfigResponse, error) {
	v := url.Values{}
	if checkIndex != nil {
		v.Set("cas", strconv.FormatUint(*checkIndex, 10))
	}
	return send[*api.SetSchedulerConfigResponse](ctx, o.c, http.MethodPut, "/v1/operator/scheduler/configuration", v, config)
}
