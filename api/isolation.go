// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "slices"

// ParamIsolated is the parameter of a forwarded command whose caller may run it only in a task that is
// isolated from its node.
const ParamIsolated = "isolated"

// isolating are the drivers whose tasks have a root directory of their own. The mock drivers run
// nothing.
var isolating = []string{DriverContainer, DriverDocker, "exec", "java", "mock", "mock_driver", "podman", DriverQEMU}

// Isolates reports whether a driver isolates its tasks from the files of their node. No unknown driver
// does.
func Isolates(driver string) bool { return slices.Contains(isolating, driver) }
