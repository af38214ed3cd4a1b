// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var namespacesByName = order[*api.Namespace]{
	key:    func(n *api.Namespace) key { return key{id: n.Name} },
	stored: true,
}

func listNamespaces(c *call, v *state.Snapshot) iter.Seq[*api.Namespace] {
	return where(v.NamespacesPrefix(c.prefix), func(n *api.Namespace) bool { return c.maySee(n.Name) })
}

func showNamespace(_ *call, _ *state.Snapshot, n *api.Namespace) *api.Namespace { return n }

func getNamespace(c *call, v *state.Snapshot) (*api.Namespace, uint64, error) {
	n, err := orNotFound(v.Namespace(c.id()), "namespace %q not found", c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return n, n.ModifyIndex, nil
}

func putNamespace(c *call, n *api.Namespace) (*api.IndexResponse, uint64, error) {
	enforce, err := c.cas()
	if err != nil {
		return nil, 0, err
	}
	var index uint64
	if author, limited := c.author(); limited {
		index, err = c.Server.PutDelegatedNamespace(c.r.Context(), author, n, enforce)
	} else {
		index, err = c.Server.PutNamespace(c.r.Context(), n, enforce)
	}
	return &api.IndexResponse{Index: index}, index, c.refusal(err)
}

func putNamedNamespace(c *call, n *api.Namespace) (*api.IndexResponse, uint64, error) {
	switch {
	case n.Name == "":
		n.Name = c.id()
	case n.Name != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Name: the namespace in the body is %q, the one in the path %q", n.Name, c.id())
	}
	return putNamespace(c, n)
}

func deleteNamespace(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	enforce, err := c.cas()
	if err != nil {
		return nil, 0, err
	}
	var index uint64
	if author, limited := c.author(); limited {
		index, err = c.Server.DeleteDelegatedNamespace(c.r.Context(), author, c.id(), enforce)
	} else {
		index, err = c.Server.DeleteNamespace(c.r.Context(), c.id(), enforce)
	}
	return &api.IndexResponse{Index: index}, index, c.refusal(err)
}
