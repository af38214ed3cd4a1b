// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// pollEvaluations gives another server's workers evaluations of this leader.
func pollEvaluations(c *call) error {
	body, err := c.serverBody()
	if err != nil {
		return err
	}
	return c.answerServer(c.Server.PollEvaluations(c.r.Context(), callerOf(c.r).ID, body))
}

// answerEvaluations takes the placements of another server's workers.
func answerEvaluations(c *call) error {
	body, err := c.serverBody()
	if err != nil {
		return err
	}
	return c.answerServer(c.Server.AnswerEvaluations(callerOf(c.r).ID, body))
}

// serverBody returns the body of another server's request.
func (c *call) serverBody() ([]byte, error) {
	control := http.NewResponseController(c.w)
	control.SetReadDeadline(time.Now().Add(readTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.route.BodyLimit))
	if err != nil {
		return nil, bodyError(err)
	}
	control.SetReadDeadline(time.Time{})
	return body, nil
}

// answerServer writes a binary answer to another server.
func (c *call) answerServer(body []byte, err error) error {
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", octets)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, err = c.w.Write(body)
	return err
}
