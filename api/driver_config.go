// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A kind is the required type of a driver config's value.
type kind string

const (
	kindString   kind = "a string"
	kindStrings  kind = "a list of strings"
	kindBool     kind = "true or false"
	kindNumber   kind = "a number"
	kindDuration kind = "a duration such as \"10s\""
	kindOOMScore kind = "a whole number from 0 to 1000"
	kindUlimits  kind = "a map of limits such as { nofile = \"1024:4096\" }"
	kindPorts    kind = "a map of ports such as { ssh = 22 }"
	kindUnveil   kind = "a list of paths such as [\"r:/etc/ssl\"]"
)

// Names of the drivers that isolate programs of the node.
const (
	DriverExec = "exec"
	DriverJava = "java" // programs in Java, like DriverExec
)

// ConfinesPrograms reports whether a driver gives programs of the node their own root.
func ConfinesPrograms(driver string) bool {
	return driver == DriverExec || driver == DriverJava || driver == DriverQEMU
}

// Names of the drivers that run images.
const (
	DriverContainer = "container" // without a daemon
	DriverDocker    = "docker"    // by a Docker daemon, or like DriverContainer
	DriverPodman    = "podman"    // the same, with the names that Nomad's plugin has in job files
)

// RunsImages reports whether a driver runs images, which have users of their own.
func RunsImages(driver string) bool {
	return driver == DriverContainer || ByDocker(driver)
}

// ByDocker reports whether a Docker daemon can run a driver's tasks.
func ByDocker(driver string) bool { return driver == DriverDocker || driver == DriverPodman }

// BuiltInDrivers returns the names of the built-in drivers, in order.
func BuiltInDrivers() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(driverConfig)) {
		if name != "mock_driver" {
			names = append(names, name)
		}
	}
	names = append(names, DriverContainer, DriverDocker, DriverPodman)
	slices.Sort(names)
	return names
}

// driverConfig is the schema of the built-in drivers' config blocks.
var driverConfig = map[string]map[string]kind{
	"raw_exec": {"command": kindString, "args": kindStrings, "work_dir": kindString, "oom_score_adj": kindOOMScore},
	"exec": {
		"command": kindString, "args": kindStrings, "work_dir": kindString, "pid_mode": kindString, "ipc_mode": kindString,
		"cap_add": kindStrings, "cap_drop": kindStrings, "ulimit": kindUlimits, "unveil": kindUnveil,
	},
	DriverJava: {
		"class": kindString, "class_path": kindString, "jar_path": kindString, "jvm_options": kindStrings, "args": kindStrings,
		"work_dir": kindString, "pid_mode": kindString, "ipc_mode": kindString, "cap_add": kindStrings, "cap_drop": kindStrings, "ulimit": kindUlimits,
	},
	DriverQEMU: {
		"image_path": kindString, "drive_interface": kindString, "accelerator": kindString, "emulator": kindString, "args": kindStrings,
		"graceful_shutdown": kindBool, "guest_agent": kindBool, "port_map": kindPorts,
	},
	"mock_driver": {
		"run_for": kindDuration, "exit_code": kindNumber, "exit_signal": kindNumber, "exit_err_msg": kindString,
		"start_error": kindString, "start_error_recoverable": kindBool, "start_block_for": kindDuration,
		"kill_after": kindDuration, "signal_error": kindString, "stdout_string": kindString, "stdout_repeat": kindNumber,
		"stdout_repeat_duration": kindDuration,
	},
}

func schemaOf(driver string) (map[string]kind, bool) {
	if driver == "mock" {
		driver = "mock_driver"
	}
	s, ok := driverConfig[driver]
	return s, ok
}

// DriverConfigKeys returns the keys of a driver's config block, sorted. It returns false
// for unknown drivers, whose config may hold anything.
func DriverConfigKeys(driver string) ([]string, bool) {
	if driver == DriverPodman {
		return slices.Sorted(maps.Keys(podmanFields)), true
	}
	if RunsImages(driver) {
		return slices.Sorted(maps.Keys(containerFields)), true
	}
	s, ok := schemaOf(driver)
	return slices.Sorted(maps.Keys(s)), ok
}

// DriverConfigProblems returns the errors in a task's config for a built-in driver, and
// nothing for other drivers.
func DriverConfigProblems(driver string, config map[string]any) []string {
	switch driver {
	case DriverContainer:
		_, problems := ParseContainerConfig(config)
		return problems
	case DriverDocker:
		_, problems := ParseDockerConfig(config)
		return problems
	case DriverPodman:
		_, problems := ParsePodmanConfig(config)
		return problems
	}
	s, ok := schemaOf(driver)
	if !ok {
		return nil
	}
	var problems []string
	for _, k := range slices.Sorted(maps.Keys(config)) {
		want, known := s[k]
		if want == kindUlimits || want == kindUnveil || want == kindPorts {
			if err := parse(want, config[k]); err != nil {
				problems = append(problems, fmt.Sprintf("%s %v", k, err))
			}
			continue
		}
		switch {
		case !known:
			problems = append(problems, fmt.Sprintf("driver %s has no key %q; there are: %s", driver, k, strings.Join(slices.Sorted(maps.Keys(s)), ", ")))
		case !want.matches(config[k]):
			problems = append(problems, fmt.Sprintf("%s must be %s, not %v", k, want, config[k]))
		}
	}
	if _, needs := s["command"]; needs {
		if command, _ := config["command"].(string); command == "" {
			problems = append(problems, "command is missing")
		}
	}
	if class, _ := config["class"].(string); driver == DriverJava && class == "" {
		if jar, _ := config["jar_path"].(string); jar == "" {
			problems = append(problems, "jar_path or class is missing: name the program")
		}
	}
	if driver == DriverQEMU {
		problems = append(problems, qemuProblems(config)...)
	}
	return problems
}

// parse checks a value that has a parser of its own.
func parse(k kind, v any) (err error) {
	switch k {
	case kindUnveil:
		_, err = ParseUnveil(v)
	case kindPorts:
		_, err = ParsePortMap(v)
	default:
		_, err = ParseUlimits(v)
	}
	return err
}

func (k kind) matches(v any) bool {
	switch k {
	case kindString:
		_, ok := v.(string)
		return ok
	case kindBool:
		switch v := v.(type) {
		case bool:
			return true
		case string:
			return v == "true" || v == "false"
		}
		return false
	case kindNumber:
		switch v := v.(type) {
		case int, int64, uint64, float64:
			return true
		case string:
			return v != "" && strings.Trim(v, "0123456789") == ""
		}
		return false
	case kindOOMScore:
		n, err := strconv.Atoi(fmt.Sprint(v))
		return err == nil && n >= 0 && n <= 1000
	case kindDuration:
		switch v := v.(type) {
		case int, int64, uint64, float64:
			return true
		case string:
			_, err := time.ParseDuration(v)
			return err == nil
		}
		return false
	}
	switch list := v.(type) {
	case []string:
		return true
	case []any:
		return !slices.ContainsFunc(list, func(e any) bool { _, ok := e.(string); return !ok })
	}
	return false
}
