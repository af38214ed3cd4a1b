// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package idp is an identity provider for tests: OpenID Connect with the code flow, PKCE, discovery and
// keys that rotate. It verifies what clients send, so that a test with it fails if they omit a check's
// part. Its fields let a test misbehave in the provider's place.
package idp
