// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package identity has the signed tokens by which tasks prove who they are: JSON Web Tokens (RFC 7519)
// with Ed25519 signatures, and the set of public keys that verifies them. It is pure: no file, no
// connection, no clock.
package identity
