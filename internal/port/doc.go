// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package port serves several protocols on one TCP port. The first byte of a connection
// tells TLS from plain HTTP, and TLS's ALPN tells the API from streams between servers.
//
// Everything before a connection is handed over is hostile: strangers can connect, stay
// silent, send one byte a second, or send anything. A connection has ten seconds until its
// handshake ends. At most 1,024 connections are unfinished at a time: another one closes the
// oldest.
//
// Plain HTTP is only for callers of the same machine. Package door identifies them.
// Callers elsewhere get an error that explains what to do.
//
// The package decides how a connection speaks. It does not decide what its peer may do.
package port
