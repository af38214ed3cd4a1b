// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// countedImages are images whose list says how many uses the servers confirmed.
type countedImages struct{ uses int }

func (c countedImages) ListImages(ctx context.Context, claims driver.ImageClaims) (*api.NodeImages, error) {
	needed, err := claims.NeededImages(ctx, make([]*api.ImageUse, c.uses))
	return &api.NodeImages{SizeBytes: int64(len(needed)), Full: claims.Lives("none"), ServersAway: err != nil}, nil
}

func (c countedImages) CollectImages(ctx context.Context, claims driver.ImageClaims) (*api.NodeImages, error) {
	return &api.NodeImages{RemovedBytes: 7}, nil
}

func TestImagesAreServed(t *testing.T) {
	servers := newServers()
	for name, c := range map[string]struct {
		images       Images
		method, path string
		status       int
		want         string
	}{
		"no containers":  {nil, "GET", "/v1/client/images", http.StatusServiceUnavailable, "its agent runs no containers"},
		"the list":       {countedImages{api.MaxImageUses + 5}, "GET", "/v1/client/images", http.StatusOK, `"SizeBytes":4101,`},
		"a collection":   {countedImages{}, "PUT", "/v1/client/images/gc", http.StatusOK, `"RemovedBytes":7,`},
		"another method": {countedImages{}, "GET", "/v1/client/images/gc", http.StatusMethodNotAllowed, ""},
	} {
		n, err := New(Config{DataDir: t.TempDir(), Servers: servers, Images: c.images})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		n.Handler().ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || c.status == http.StatusOK && !strings.Contains(w.Body.String(), n.ID()) {
			t.Errorf("%s: %d, %s", name, w.Code, w.Body)
		}
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}
}
