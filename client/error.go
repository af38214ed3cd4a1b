// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"

	"github.com/reeve-run/reeve/api"
)

// responseError reads a refusal. Servers of other makes answer in plain text;
// their status then gives the code.
func responseError(resp *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	var e api.Error
	if json.Unmarshal(data, &e) == nil && e.Code != "" {
		return &e
	}
	message := strings.TrimSpace(string(data))
	if message == "" {
		message = fmt.Sprintf("%s %s answered %s", resp.Request.Method, resp.Request.URL.Path, resp.Status)
	}
	return &api.Error{Code: codeOfStatus(resp.StatusCode), Message: message}
}

func codeOfStatus(status int) api.ErrorCode {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return api.CodeForbidden
	case http.StatusNotFound:
		return api.CodeNotFound
	case http.StatusConflict:
		return api.CodeConflict
	case http.StatusRequestEntityTooLarge:
		return api.CodeTooLarge
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return api.CodeUnavailable
	}
	if status < 500 {
		return api.CodeInvalid
	}
	return api.CodeInternal
}

// transportError says why there was no answer. A cancelled context stays
// recognizable with errors.Is.
func (c *Client) transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return api.Errorf(api.CodeUnavailable,
			"is an agent running at %s? start one with `reeve dev`", c.base.Host)
	}
	return api.Errorf(api.CodeUnavailable, "no answer from %s: %v", c.base.Host, err)
}
