// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package certs holds the certificates of a router, and chooses one for each handshake by the
// name that the client asks for. It reads files that change, and keeps the last good
// certificate while they are damaged. A client that asks for a name without a certificate gets
// none: a certificate for another name would help only an attacker.
package certs
