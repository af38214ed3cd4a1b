// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// takeHeartbeats tells the leader which nodes of another server are alive.
func takeHeartbeats(c *call) error {
	return exchange(c, c.Server.Heard)
}

// takeReports gives the leader the reports of nodes of another server.
func takeReports(c *call) error {
	return exchange(c, c.Server.TakeReports)
}

// An encoded message is one of package nodeproto.
type encoded[T any] interface {
	*T
	MarshalVT() ([]byte, error)
	UnmarshalVT([]byte) error
}

// exchange answers a message of another server.
func exchange[In, Out any, PIn encoded[In], POut encoded[Out]](c *call, answer func(context.Context, PIn) (POut, error)) error {
	control := http.NewResponseController(c.w)
	control.SetReadDeadline(time.Now().Add(readTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.route.BodyLimit))
	if err != nil {
		return bodyError(err)
	}
	control.SetReadDeadline(time.Time{})
	in := PIn(new(In))
	if err := in.UnmarshalVT(body); err != nil {
		return api.Errorf(api.CodeInvalid, "the request's body is no %s: %v", nodeproto.Media, err)
	}
	out, err := answer(c.r.Context(), in)
	if err != nil {
		return err
	}
	text, err := out.MarshalVT()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", nodeproto.Media)
	_, err = c.w.Write(text)
	return err
}
