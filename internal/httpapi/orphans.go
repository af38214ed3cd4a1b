// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import "github.com/reeve-run/reeve/api"

func offerOrphans(c *call, req *api.OfferOrphansRequest) (*api.OfferOrphansResponse, uint64, error) {
	res, err := c.Server.OfferOrphans(c.r.Context(), c.id(), c.r.Header.Get(nodeSecretHeader), req)
	if err != nil {
		return nil, 0, err
	}
	return res, res.Index, nil
}
