// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// ClusterCA is what a machine needs to verify the members of a cluster.
type ClusterCA struct {
	ClusterID string
	Roots     string // certificates of the authority in PEM, newest first
	// Spread is the time in nanoseconds over which members spread requests that all of them
	// send. It grows with the number of nodes.
	Spread int64 `json:",omitempty"`
}

// A JoinRequest asks to make a machine a member of the cluster.
type JoinRequest struct {
	Token string // a join token; its kind is the role of the member
	// ID identifies a server, which chooses it. The servers choose the ids of nodes, so that
	// no machine can pretend to be another.
	ID         string `json:",omitempty"`
	CSR        string // certificate request in PEM
	Name       string // of the machine
	Address    string // host:port at which the other members reach a server; a node's API
	Version    string // of the agent
	Region     string
	Datacenter string
	SealKey    []byte `json:",omitempty"` // a server's public key for secrets
	// Level is the highest feature level that a server can apply. It is sent in the header
	// LevelHeader: servers of earlier versions reject unknown keys.
	Level int   `json:"-"`
	Time  int64 // of the machine's clock: Unix time in nanoseconds
}

// A JoinResponse makes a machine a member.
type JoinResponse struct {
	ID          string
	ClusterID   string
	Certificate string   // in PEM
	Roots       string   // in PEM, newest first
	Servers     []string // host:port of all servers
	// Introduction is the id of the introduction token with which a node joined, and NodePool and
	// NodeName what it decides. They are empty for other tokens, and NodeName for tokens without a name.
	Introduction string `json:",omitempty"`
	NodePool     string `json:",omitempty"`
	NodeName     string `json:",omitempty"`
}

// A RenewRequest asks for a new certificate of the member that sends it.
type RenewRequest struct {
	CSR string `json:",omitempty"` // certificate request in PEM
	// Using is the digest of the root that signed the certificate with which the member sends
	// the request. Such a request has no CSR, and reports that the renewal is complete.
	Using string `json:",omitempty"`
}

// An AnnounceRequest tells the cluster what changed of a server while it was stopped.
type AnnounceRequest struct {
	Name       string
	Address    string // host:port at which the other members reach the server
	Version    string
	Datacenter string
	Level      int `json:"-"` // as in JoinRequest
	// Issued and Expires are the validity of a certificate that another authority signed: Unix
	// times in nanoseconds.
	Issued  int64 `json:",omitempty"`
	Expires int64 `json:",omitempty"`
	// SealKey is the server's public key for secrets, if another authority signed its certificate.
	SealKey []byte `json:",omitempty"`
}

// LevelHeader is the header with the feature level of a server that joins or announces itself.
const LevelHeader = "X-Reeve-Level"

// JoinTokens are the secrets with which machines join a cluster.
type JoinTokens struct {
	Server string `json:",omitempty"`
	Node   string `json:",omitempty"`
}

// An OperatorToken is the secret that permits everything.
type OperatorToken struct {
	Token string
}

// RevokeRequest excludes a member from the cluster.
type RevokeRequest struct {
	Reason string `json:",omitempty"`
}

// A CAStatus describes the certificate authority of a cluster.
type CAStatus struct {
	ClusterID string
	Roots     []string // digests of the roots that members trust, newest first
	Expires   int64    // end of the newest root: Unix time in nanoseconds
	Rotated   int64    `json:",omitempty"` // beginning of the rotation: Unix time in nanoseconds; 0 without one
	// Waiting lists the servers and the live nodes without a certificate of the newest root.
	Waiting []CAMember
}

// A CAMember is a member that waits for a certificate of the newest root.
type CAMember struct {
	ID   string
	Name string // of its machine
	Role string // server or node
}

// A RotateCARequest begins or ends a rotation of the root.
type RotateCARequest struct {
	Finish bool `json:",omitempty"` // drop the old root now: members without a new certificate are excluded
}
