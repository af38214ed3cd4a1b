// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package registry reads images from registries and from OCI layouts.
//
// A registry is hostile: it chooses every size, header and byte. So every response but a blob
// is bounded and read whole, a blob's length is known from its manifest, each digest is
// verified by the code that uses the content, and a connection without a byte for a while
// ends. Passwords travel only over TLS, except to loopback and to registries that the operator
// declares insecure. Redirects do not lead to services of this machine.
package registry
