// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Debug returns one part (see api.DebugSelf) of what a member reports for support. An empty
// member is the answering agent. length is that of a profile of the processor time.
func (o Operator) Debug(ctx context.Context, member, part string, length time.Duration) ([]byte, error) {
	v := url.Values{"part": {part}}
	if member != "" {
		v.Set("member", member)
	}
	if length > 0 {
		v.Set("seconds", strconv.FormatFloat(length.Seconds(), 'f', -1, 64))
	}
	resp, err := o.c.do(ctx, http.MethodGet, "/v1/agent/debug", v, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, 64<<20))
}
