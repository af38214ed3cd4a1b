// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Cluster has the calls about the members of a cluster and their trust.
type Cluster struct{ c *Client }

// Cluster returns the calls about the members of a cluster.
func (c *Client) Cluster() Cluster { return Cluster{c.WithNamespace("")} }

// CA returns the certificates by which members are verified.
func (cl Cluster) CA(ctx context.Context) (*api.ClusterCA, error) {
	ca, _, err := getOnce[*api.ClusterCA](ctx, cl.c, "/v1/cluster/ca", nil)
	return ca, err
}

// Join makes a machine a member.
func (cl Cluster) Join(ctx context.Context, r *api.JoinRequest) (*api.JoinResponse, error) {
	answer := new(api.JoinResponse)
	return answer, cl.sendLevel(ctx, "/v1/cluster/join", r, r.Level, answer)
}

// Renew returns a new certificate of the member that sends the request.
func (cl Cluster) Renew(ctx context.Context, r *api.RenewRequest) (*api.JoinResponse, error) {
	return send[*api.JoinResponse](ctx, cl.c, http.MethodPut, "/v1/cluster/renew", nil, r)
}

// Announce tells the cluster the address and version of the server that sends the request.
func (cl Cluster) Announce(ctx context.Context, r *api.AnnounceRequest) error {
	return cl.sendLevel(ctx, "/v1/cluster/announce", r, r.Level, new(map[string]any))
}

// sendLevel sends a request with the feature level of this server, and reads its answer.
func (cl Cluster) sendLevel(ctx context.Context, path string, in any, level int, answer any) error {
	var header http.Header
	if level > 0 {
		header = http.Header{api.LevelHeader: {strconv.Itoa(level)}}
	}
	v := url.Values{}
	cl.c.addDefaults(v)
	resp, err := cl.c.do(ctx, http.MethodPut, path, v, in, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return cl.c.decode(ctx, resp, answer)
}

// JoinTokens returns the tokens with which machines join.
func (cl Cluster) JoinTokens(ctx context.Context) (*api.JoinTokens, error) {
	tokens, _, err := get[*api.JoinTokens](ctx, cl.c, "/v1/cluster/tokens", nil)
	return tokens, err
}

// RotateJoinToken replaces the join token of a kind, "server" or "node", and returns the new
// one.
func (cl Cluster) RotateJoinToken(ctx context.Context, kind string) (*api.JoinTokens, error) {
	return send[*api.JoinTokens](ctx, cl.c, http.MethodPut, pathf("/v1/cluster/token/%s/rotate", kind), nil, nil)
}

// Introduce returns an introduction token, with which a machine joins as a node of one pool.
func (cl Cluster) Introduce(ctx context.Context, r *api.IntroductionRequest) (*api.IntroductionResponse, error) {
	return send[*api.IntroductionResponse](ctx, cl.c, http.MethodPut, "/v1/acl/identity/client-introduction-token", nil, r)
}

// RotateOperatorToken replaces the operator's token, and returns the new one.
func (cl Cluster) RotateOperatorToken(ctx context.Context) (*api.OperatorToken, error) {
	return send[*api.OperatorToken](ctx, cl.c, http.MethodPut, "/v1/cluster/operator-token/rotate", nil, nil)
}

// Revocations lists the members that were removed, by id.
func (cl Cluster) Revocations(ctx context.Context, q *QueryOptions) ([]*api.Revocation, *QueryMeta, error) {
	return get[[]*api.Revocation](ctx, cl.c, "/v1/cluster/revocations", q)
}

// Revoke excludes a node from the cluster.
func (cl Cluster) Revoke(ctx context.Context, id, reason string) error {
	_, err := send[map[string]any](ctx, cl.c, http.MethodPut, pathf("/v1/cluster/member/%s/revoke", id), nil, &api.RevokeRequest{Reason: reason})
	return err
}

// CAStatus returns the roots of the cluster, and the progress of their rotation.
func (cl Cluster) CAStatus(ctx context.Context) (*api.CAStatus, error) {
	status, _, err := get[*api.CAStatus](ctx, cl.c, "/v1/cluster/ca/status", nil)
	return status, err
}

// RotateCA begins to replace the root of the cluster. With finish, it drops the old root.
func (cl Cluster) RotateCA(ctx context.Context, finish bool) (*api.CAStatus, error) {
	return send[*api.CAStatus](ctx, cl.c, http.MethodPut, "/v1/cluster/ca/rotate", nil, &api.RotateCARequest{Finish: finish})
}
