// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
)

// prometheusText is the content type of metrics for Prometheus.
const prometheusText = "text/plain; version=0.0.4; charset=utf-8"

// getMetrics answers with all series of this agent, as JSON or for Prometheus.
func getMetrics(c *call) error {
	switch format := c.query.Get("format"); format {
	case "":
		return c.writeJSON(http.StatusOK, c.Metrics.Summary(time.Now()))
	case "prometheus":
		var text bytes.Buffer
		if err := c.Metrics.WriteText(&text); err != nil {
			return err
		}
		c.w.Header().Set("Content-Type", prometheusText)
		c.writeBody(http.StatusOK, text.Bytes())
		return nil
	default:
		return api.Errorf(api.CodeInvalid, "format: there is no %q: use prometheus, or none for JSON", format)
	}
}
