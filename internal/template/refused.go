// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"strings"
)

// Functions of other systems, and what to use instead.
const (
	insteadOfConsulKey     = "Reeve does not use Consul; store the value in a variable, and read it with nomadVar"
	insteadOfConsulService = "Reeve does not use Consul; read the catalog with nomadService"
	insteadOfVault         = "Reeve does not use Vault; store the secret in a variable (reeve var put), and read it with nomadVar"
	neverAllowed           = "templates cannot do that, for safety"
)

var refused = map[string]string{
	"key": insteadOfConsulKey, "keyExists": insteadOfConsulKey, "keyExistsGet": insteadOfConsulKey, "keyOrDefault": insteadOfConsulKey,
	"ls": insteadOfConsulKey, "safeLs": insteadOfConsulKey, "tree": insteadOfConsulKey, "safeTree": insteadOfConsulKey,
	"byKey": insteadOfConsulKey, "explode": insteadOfConsulKey + ", and explodeMap",
	"service": insteadOfConsulService, "services": insteadOfConsulService, "connect": insteadOfConsulService,
	"node": "Reeve does not use Consul; use env \"node.unique.id\" and the like", "nodes": insteadOfConsulService, "datacenters": insteadOfConsulService,
	"caRoots": insteadOfVault, "caLeaf": insteadOfVault, "partitions": insteadOfConsulService, "peerings": insteadOfConsulService,
	"exportedServices": insteadOfConsulService,
	"secret":           insteadOfVault, "secrets": insteadOfVault, "pkiCert": insteadOfVault,
	"plugin": neverAllowed, "executeTemplate": neverAllowed + "; use {{template}} with {{define}}", "writeToFile": neverAllowed + "; add another template block",
	"sockaddr":  "use env \"attr.unique.network.ip-address\", or NOMAD_IP_label of a port",
	"spew_dump": "use toJSONPretty", "spew_printf": "use printf", "spew_sdump": "use toJSONPretty", "spew_sprintf": "use printf",
}

// explainUnknown describes a function that does not exist.
func explainUnknown(name string) string {
	if instead := refused[name]; instead != "" {
		return fmt.Sprintf("function %q is not supported: %s", name, instead)
	}
	if strings.HasPrefix(name, "sprig_") {
		return fmt.Sprintf("function %q is not supported: docs/templates.md lists the functions of Sprig that are", name)
	}
	return fmt.Sprintf("function %q does not exist: docs/templates.md lists the functions", name)
}
