// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/identity"
	"github.com/reeve-run/reeve/internal/state"
)

// Paths that verifiers of identities know.
const (
	keySetPath    = "/.well-known/jwks.json"
	discoveryPath = "/.well-known/openid-configuration"
)

// signIdentities signs for tasks of the node in the path.
func signIdentities(c *call, r *api.IdentitiesRequest) (*api.IdentitiesResponse, uint64, error) {
	if len(r.Requests) == 0 || len(r.Requests) > api.MaxIdentities || slices.Contains(r.Requests, nil) {
		return nil, 0, api.Errorf(api.CodeInvalid, "Requests: must be a list of 1 to %d requests", api.MaxIdentities)
	}
	answer := &api.IdentitiesResponse{}
	for _, one := range r.Requests {
		signed, err := c.Server.SignIdentity(c.id(), one)
		if err != nil {
			if len(r.Requests) == 1 {
				return nil, 0, err
			}
			signed = &api.IdentityResponse{Error: asError(err)}
		}
		answer.Responses = append(answer.Responses, signed)
	}
	return answer, 0, nil
}

// templateValues returns values for the templates of tasks of the node in the path.
func templateValues(c *call, r *api.TemplateValuesRequest) (*api.TemplateValuesResponse, uint64, error) {
	answer, err := c.Server.TemplateValues(c.r.Context(), c.id(), r)
	return answer, 0, err
}

func getKeySet(c *call, v *state.Snapshot) (*identity.KeySet, uint64, error) {
	return c.Server.KeySet(v), v.TableIndex(c.route.Tables...), nil
}

// A discovery is an OpenID discovery document.
type discovery struct {
	Issuer        string   `json:"issuer"`
	JWKSURI       string   `json:"jwks_uri"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
}

func getDiscovery(c *call) (*discovery, error) {
	issuer := c.Server.OIDCIssuer()
	if issuer == "" {
		return nil, api.Errorf(api.CodeNotFound, "openid-configuration not found: this cluster has no issuer; set oidc_issuer in server { } of its servers")
	}
	return &discovery{
		Issuer: issuer, JWKSURI: strings.TrimSuffix(issuer, "/") + keySetPath,
		Algorithms: []string{identity.Algorithm}, ResponseTypes: []string{"code"}, SubjectTypes: []string{"public"},
	}, nil
}
