// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Capabilities for variables and the keyring.
const (
	ListVariables    Capability = "variables:list"
	ReadVariables    Capability = "variables:read"
	WriteVariables   Capability = "variables:write"
	DestroyVariables Capability = "variables:destroy"
	ReadKeyring      Capability = "keyring-read"
	RotateKeyring    Capability = "keyring-rotate"
	DeleteKeyring    Capability = "keyring-delete"
)

// variableBodyLimit bounds the body of a variable, whose bytes may be escaped.
const variableBodyLimit = 6*api.MaxVariableBytes + 4<<10

// secretRoutes are the routes of variables, of identities of tasks, and of the keys behind both.
func secretRoutes() []route {
	variables, keys := state.TableVariables, state.TableRootKeys
	return []route{
		list("/v1/vars", ListVariables, "Lists variables by namespace and path, without their items.", variablesInOrder, listVariables, showVariable).filtering().blocking(variables),
		read("/v1/var/{id}", ReadVariables, "Returns a variable with its items.", getVariable).blocking(variables).nested(),
		write(put, "/v1/var/{id}", WriteVariables, "Stores a variable. With `lock-acquire`, `lock-renew` or `lock-release` it also takes, extends or ends the lock of the variable.", putVariable).
			params("cas", "lock-acquire", "lock-renew", "lock-release").upTo(variableBodyLimit).nested(),
		write(del, "/v1/var/{id}", DestroyVariables, "Deletes a variable.", deleteVariable).params("cas").nested(),
		list("/v1/operator/keyring/keys", ReadKeyring, "Lists the root keys, by id, without the keys themselves.", rootKeysInOrder, listRootKeys, showRootKey).blocking(keys, variables),
		write(put, "/v1/operator/keyring/rotate", RotateKeyring, "Replaces the active root key; `full` also encrypts all variables again.", rotateKeyring).params("full", "publish_time", "algo"),
		write(del, "/v1/operator/keyring/key/{id}", DeleteKeyring, "Deletes a root key that encrypts nothing; `force`: with the variables that it encrypts.", deleteRootKey).params("force"),
		read("/v1/operator/keyring/recovery", ReadKeyring, "Returns the public part of the recovery key.", getRecoveryKey).blocking(state.TableRecoveryKeys),
		write(put, "/v1/operator/keyring/recovery", Management, "Replaces the recovery key: stores the public part of a new one.", putRecoveryKey).strict(),
		write(put, "/v1/node/{id}/identities", BeNode, "Returns the signed tokens of tasks that a node runs.", signIdentities).forNodes(ownNode).reading(),
		write(put, "/v1/node/{id}/template-values", BeNode, "Returns the values that templates of a node's tasks need, once one differs from what the node has.", templateValues).forNodes(ownNode).reading().upTo(nodeBodyLimit),
		read(keySetPath, Anonymous, "Returns the public keys that verify the identities of tasks: a JSON Web Key Set.", getKeySet).blocking(keys).open(),
		plain(discoveryPath, Anonymous, "Returns where others find the keys that verify identities: an OpenID discovery document. 404 unless `oidc_issuer` is configured.", getDiscovery).open(),
		write(put, "/v1/operator/keyring/recover", Management, "Opens root keys that other machines sealed, with the secret of the recovery key.", recoverKeyring).strict(),
	}
}
