// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"io"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// SaveSnapshot returns a snapshot of the servers' state. With stale, any server answers. The
// last read fails if the file is not complete. The caller closes it.
func (o Operator) SaveSnapshot(ctx context.Context, stale bool) (io.ReadCloser, error) {
	v := url.Values{}
	if stale {
		v.Set("stale", "")
	}
	resp, err := o.c.do(ctx, http.MethodGet, "/v1/operator/snapshot", v, nil, nil)
	if err != nil {
		return nil, err
	}
	return &digestReader{ReadCloser: resp.Body, sum: sha256.New(), want: resp.Header.Get("Digest")}, nil
}

// RestoreSnapshot replaces the state of all servers with a snapshot.
func (o Operator) RestoreSnapshot(ctx context.Context, file io.Reader) (*api.RestoreResponse, error) {
	resp, err := o.c.do(ctx, http.MethodPut, "/v1/operator/snapshot", nil, file, http.Header{"Content-Type": {"application/gzip"}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer := new(api.RestoreResponse)
	return answer, o.c.decode(ctx, resp, answer)
}

// SnapshotSchedules lists the servers' schedules of snapshots.
func (o Operator) SnapshotSchedules(ctx context.Context) ([]*api.SnapshotSchedule, error) {
	list, _, err := get[[]*api.SnapshotSchedule](ctx, o.c, "/v1/operator/snapshot/schedule", nil)
	return list, err
}

// A digestReader compares a body with its checksum at its end.
type digestReader struct {
	io.ReadCloser
	sum  hash.Hash
	want string
}

// Read implements io.Reader.
func (r *digestReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.sum.Write(b[:n])
	if err != io.EOF {
		return n, err
	}
	if got := "sha-256=" + base64.StdEncoding.EncodeToString(r.sum.Sum(nil)); got != r.want {
		return n, api.Errorf(api.CodeUnavailable, "the snapshot was damaged on its way from the server: its checksum is %s, and the server sent %s; try again", got, r.want)
	}
	return n, io.EOF
}
