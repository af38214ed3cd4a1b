// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// UlimitNames lists the resource limits that a task's driver config may set, by their names
// in setrlimit(2) without RLIMIT_.
var UlimitNames = []string{
	"as", "core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rtprio",
	"rttime", "sigpending", "stack",
}

// A Ulimit is one resource limit of a task's processes. math.MaxUint64 means unlimited.
type Ulimit struct {
	Name       string // one of UlimitNames
	Soft, Hard uint64
}

// ParseUlimits parses the ulimit map of a driver's config: names to "SOFT:HARD", or one
// number for both; a number may be "unlimited", or -1 as with Docker. The result is sorted by name.
func ParseUlimits(v any) ([]Ulimit, error) {
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = list[0] // a block instead of a map
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("must be a map such as { nofile = \"1024:4096\" }")
	}
	var limits []Ulimit
	for name, value := range m {
		if !slices.Contains(UlimitNames, name) {
			return nil, fmt.Errorf("has no limit %q; there are: %s", name, strings.Join(UlimitNames, ", "))
		}
		soft, hard, both := strings.Cut(fmt.Sprint(value), ":")
		if !both {
			hard = soft
		}
		l := Ulimit{Name: name}
		var err1, err2 error
		l.Soft, err1 = parseLimit(soft)
		l.Hard, err2 = parseLimit(hard)
		if err1 != nil || err2 != nil || l.Soft > l.Hard {
			return nil, fmt.Errorf("%s must be \"SOFT:HARD\" with numbers or \"unlimited\", the first not above the second, not %q", name, fmt.Sprint(value))
		}
		limits = append(limits, l)
	}
	slices.SortFunc(limits, func(a, b Ulimit) int { return strings.Compare(a.Name, b.Name) })
	return limits, nil
}

func parseLimit(s string) (uint64, error) {
	if s == "unlimited" || s == "-1" {
		return math.MaxUint64, nil
	}
	return strconv.ParseUint(s, 10, 63)
}
