// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// A client of HTTP/2 that sees a refusal sends no more of its body, and waits for the end of the
// response.
func TestARefusalOfAnUnsentBodyEnds(t *testing.T) {
	f := newFleet(t)
	var known atomic.Pointer[machine]
	third := f.server("s3", never, at(&known), nil)
	known.Store(f.server("s1", always, nil, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "refused", http.StatusForbidden) }))
	unsent, writer := io.Pipe()
	defer writer.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://"+third.addr+"/service/x", unsent)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Nomad-Token", operatorToken)
	ended := make(chan error, 1)
	go func() {
		resp, err := f.user.Do(r)
		if err == nil {
			defer resp.Body.Close()
			var text []byte
			if text, err = io.ReadAll(resp.Body); err == nil && (resp.ProtoMajor != 2 || resp.StatusCode != http.StatusForbidden || string(text) != "refused\n") {
				err = fmt.Errorf("%s %s: %s", resp.Proto, resp.Status, text)
			}
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-wait.Limit(t, 20*time.Second):
		t.Fatal("the response does not end")
	}
}
