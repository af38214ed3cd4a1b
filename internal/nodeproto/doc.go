// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package nodeproto is the binary protocol between servers and the agents of
// nodes: the stream of a node's allocations, and the node's reports of them. Both
// sides also speak JSON, the form for people and their tools; package api has its
// types.
//
// Agents and servers of different versions talk to each other, so the schema is an
// upgrade contract: see node.proto. The package knows bytes and messages only:
// package server decides what a node receives, and package client sends and
// receives it over HTTP.
//
// To regenerate after a change of the schema, with protoc 3.21 (Debian:
// protobuf-compiler) in the PATH:
//
//	go generate ./internal/nodeproto
package nodeproto

//go:generate ../../tools/protobuf.sh nodeproto node.proto ../allocset
