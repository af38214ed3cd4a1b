// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import "net/http"

// Handler answers /v1/client/... for this node's allocations.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	return mux
}
