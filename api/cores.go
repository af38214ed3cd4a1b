// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCore is the highest id of a processor core.
const maxCore = 4095

// FormatCores formats ids of processor cores as the kernel does: "0-1,3".
func FormatCores(ids []uint16) string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var b strings.Builder
	for i := 0; i < len(ids); {
		k := i
		for k+1 < len(ids) && ids[k+1] == ids[k]+1 {
			k++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(ids[i])))
		if k > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(ids[k])))
		}
		i = k + 1
	}
	return b.String()
}

// ParseCores parses the format of FormatCores.
func ParseCores(s string) ([]uint16, error) {
	var ids []uint16
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.Atoi(strings.TrimSpace(from))
		hi, err2 := strconv.Atoi(strings.TrimSpace(to))
		if err1 != nil || err2 != nil || lo < 0 || hi < lo || hi > maxCore {
			return nil, fmt.Errorf("%q is not a list of cores: write it as in \"0-1,3\"", s)
		}
		for id := lo; id <= hi; id++ {
			ids = append(ids, uint16(id))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
