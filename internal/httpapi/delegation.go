// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"

	"github.com/reeve-run/reeve/internal/server"
)

// author returns the accessor id of a caller who may only delegate, and whether the caller is one: without
// management, and not trusted by its kind. Callers without a token have no accessor id, and delegate
// nothing.
func (c *call) author() (accessor string, limited bool) {
	r := c.rights()
	if r == nil || r.ACL.IsManagement() {
		return "", false
	}
	return r.Accessor, true
}

// mayManage reports whether a caller with a token delegates in a namespace; false for callers of other
// kinds and for objects of no namespace.
func (c *call) mayManage(namespace string) bool {
	accessor, limited := c.author()
	return limited && namespace != "" && c.Server.MayManage(accessor, namespace)
}

// refusal completes the reason why a caller may not delegate something.
func (c *call) refusal(err error) error {
	var refused *server.Refusal
	if errors.As(err, &refused) {
		return c.forbidden("%s", refused.Reason)
	}
	return err
}
