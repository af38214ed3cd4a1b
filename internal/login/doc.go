// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package login verifies the users of identity providers, and decides which rights they get. A
// Provider verifies tokens (JWT) and completes logins in a browser (OpenID Connect). The result is an
// Identity: the claims that the auth method maps to names. Bind compares it with the binding rules.
//
// Everything that a user or a provider sends is hostile. Algorithms are fixed by the auth method, and
// none has a shared secret. Keys come from the method or its provider, never from the token. Requests
// to providers have a time limit and a size limit, and do not follow redirects.
package login
