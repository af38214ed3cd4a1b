// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// joinBodyLimit bounds the body of a join: two keys, a certificate request and names.
const joinBodyLimit = 64 << 10

func getClusterCA(c *call) (*api.ClusterCA, error) { return c.Server.CA() }

func getCAStatus(c *call) (*api.CAStatus, error) { return c.Server.CAStatus() }

func rotateCA(c *call, r *api.RotateCARequest) (*api.CAStatus, uint64, error) {
	change := c.Server.RotateCA
	if r.Finish {
		change = c.Server.FinishRotation
	}
	if err := change(c.r.Context()); err != nil {
		return nil, 0, err
	}
	status, err := c.Server.CAStatus()
	return status, 0, err
}

// joinCluster answers every caller: the request has its own secret.
func joinCluster(c *call, r *api.JoinRequest) (*api.JoinResponse, uint64, error) {
	r.Level = c.level()
	answer, err := c.Server.Join(c.r.Context(), r)
	if err == nil && answer.Introduction != "" {
		c.nameObject("introduction token", "", answer.Introduction)
	}
	return answer, 0, err
}

// introduceNode names the token by its id in the record of the request.
func introduceNode(c *call, r *api.IntroductionRequest) (*api.IntroductionResponse, uint64, error) {
	token, id, err := c.Server.Introduce(r)
	if err != nil {
		return nil, 0, err
	}
	c.nameObject("introduction token", "", id)
	return &api.IntroductionResponse{JWT: token}, 0, nil
}

// renewCertificate answers members, each about itself.
func renewCertificate(c *call, r *api.RenewRequest) (*api.JoinResponse, uint64, error) {
	roles := map[door.Kind]pki.Role{door.Server: pki.RoleServer, door.Node: pki.RoleNode}
	who := callerOf(c.r)
	role, ok := roles[who.Kind]
	if !ok {
		return nil, 0, c.forbidden("only a member of the cluster has a certificate to renew")
	}
	answer, err := c.Server.Renew(c.r.Context(), who.ID, role, r)
	return answer, 0, err
}

// announceServer answers servers, each about itself.
func announceServer(c *call, r *api.AnnounceRequest) (none, uint64, error) {
	who := callerOf(c.r)
	if who.Kind != door.Server {
		return none{}, 0, c.forbidden("only a server of the cluster announces itself")
	}
	r.Level = c.level()
	return none{}, 0, c.Server.Announce(c.r.Context(), who.ID, r)
}

// level returns the feature level of the server that sends a request; 0 if it is of a version
// without levels.
func (c *call) level() int {
	level, err := strconv.Atoi(c.r.Header.Get(api.LevelHeader))
	if err != nil || level < 0 {
		return 0
	}
	return level
}

func getJoinTokens(c *call) (*api.JoinTokens, error) { return c.Server.JoinTokens() }

func rotateJoinToken(c *call, _ *none) (*api.JoinTokens, uint64, error) {
	kind := pki.TokenKind(c.id())
	token, err := c.Server.RotateJoinToken(c.r.Context(), kind)
	if kind == pki.ServerToken {
		return &api.JoinTokens{Server: token}, 0, err
	}
	return &api.JoinTokens{Node: token}, 0, err
}

func rotateOperatorToken(c *call, _ *none) (*api.OperatorToken, uint64, error) {
	token, err := c.Server.RotateOperatorToken(c.r.Context())
	return &api.OperatorToken{Token: token}, 0, err
}

func getRevocations(_ *call, v *state.Snapshot) ([]*api.Revocation, uint64, error) {
	revocations := []*api.Revocation{}
	for r := range v.Revocations() {
		revocations = append(revocations, r)
	}
	return revocations, v.TableIndex(state.TableRevocations), nil
}

func revokeMember(c *call, r *api.RevokeRequest) (none, uint64, error) {
	return none{}, 0, c.Server.Revoke(c.r.Context(), c.id(), r.Reason)
}
