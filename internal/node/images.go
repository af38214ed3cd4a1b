// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
)

// pinTimeout bounds one request for the pin of an image.
const pinTimeout = 30 * time.Second

// pinImage asks the servers which digest a version's instances run.
func (n *Node) pinImage(ctx context.Context, r *api.ImagePinRequest) (*api.ImagePinResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, pinTimeout)
	defer cancel()
	return n.config.Servers.PinImage(ctx, n.identity.ID, r)
}
