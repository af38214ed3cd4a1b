// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package http1 parses and writes the heads of HTTP/1.0 and HTTP/1.1 messages,
// and follows their bodies, for a proxy. It works on bytes: it performs no I/O,
// and knows neither routes nor instances nor logs.
//
// A proxy is safe only if it and the next server agree on where each request
// ends. Therefore the parser of requests rejects every head that two parsers
// could read differently, and the writer normalizes the fields that define a
// message's length. The parser accepts less than net/http, never more:
// TestCorpusAgainstNetHTTP and FuzzRequestsMeanTheSameToNetHTTP compare both on
// the same bytes, and list each deliberate difference with its reason.
//
// The parser of responses is more tolerant, because operators choose their
// instances: it accepts lines that end with LF alone, and repeated equal lengths.
// The writer normalizes them.
//
// Bodies pass through unchanged, with their chunks. Body finds their end.
package http1
