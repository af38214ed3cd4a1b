// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package uiproxy

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/ui"
)

// refuse answers with an error, in the form of the HTTP API.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := err.(*api.Error)
	if !ok {
		e = api.Errorf(api.CodeInternal, "%v", err)
	}
	body, kind := []byte(e.Error()+"\n"), "text/plain; charset=utf-8"
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		body, _ = json.Marshal(e)
		kind = "application/json"
	}
	ui.SetHeaders(w.Header())
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(e.Code.HTTPStatus())
	w.Write(body)
}
