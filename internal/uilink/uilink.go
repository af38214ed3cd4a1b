// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package uilink knows the addresses of the web UI's pages, and those that Nomad's clients print for the
// same objects. It is pure: it reads no state, and an address says nothing about whether its object exists.
package uilink

import (
	"net/url"
	"strings"
)

// Root is the path of the web UI. All pages are below it.
const Root = "/ui/"

// defaultNamespace needs no parameter in an address.
const defaultNamespace = "default"

// page returns the address of a page. Each segment is escaped: an id may contain slashes.
func page(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = url.PathEscape(s)
	}
	return Root + strings.Join(escaped, "/")
}

// isName reports whether a text can be a segment of a path: browsers remove dots.
func isName(s string) bool { return s != "" && s != "." && s != ".." }

// of returns the page of an object, or the list if the name cannot be one.
func of(list, kind, name string, more ...string) string {
	if !isName(name) {
		return page(list)
	}
	return page(append([]string{kind, name}, more...)...)
}

// in adds a namespace to the address of a page.
func in(address, namespace string) string {
	if namespace == "" || namespace == defaultNamespace {
		return address
	}
	return address + "?namespace=" + url.QueryEscape(namespace)
}

// Job returns the page of a job, or of a tab of it.
func Job(name, namespace string, tab ...string) string {
	return in(of("jobs", "job", name, tab...), namespace)
}

// Node returns the page of a node.
func Node(id string) string { return of("nodes", "node", id) }

// Allocation returns the page of an allocation, or of a tab of it.
func Allocation(id string, tab ...string) string { return of("instances", "allocation", id, tab...) }

// lists are the pages that need no name.
var lists = []string{
	"jobs", "instances", "nodes", "topology", "rollouts", "stacks", "services", "events", "evaluations",
	"variables", "access", "namespaces", "volumes", "cluster", "settings", "login",
}

// Lists returns the pages that need no name.
func Lists() []string { return append([]string{}, lists...) }

// List returns a page that needs no name, such as topology; false if it does not exist.
func List(name string) (string, bool) {
	for _, l := range lists {
		if l == name {
			return page(l), true
		}
	}
	return "", false
}
