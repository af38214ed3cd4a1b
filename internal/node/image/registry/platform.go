// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// variants lists the architecture variants that a machine runs, the best one first. An index
// may leave a variant out.
func variants(p v1.Platform) []string {
	switch p.Architecture {
	case "arm64":
		return slices.Compact([]string{p.Variant, "v8", ""})
	case "arm":
		all := []string{"v7", "v6", "v5"}
		if at := slices.Index(all, p.Variant); at > 0 {
			all = all[at:]
		}
		return append(all, "")
	case "amd64":
		// v2, v3 and v4 promise instructions; every machine runs v1.
		all := []string{"v4", "v3", "v2", "v1", ""}
		if at := slices.Index(all, p.Variant); at >= 0 && p.Variant != "" {
			return all[at:]
		}
		return all[3:]
	}
	return slices.Compact([]string{p.Variant, ""})
}

// rank returns the position of a platform among those that a machine runs, -1 if it runs none
// of it.
func rank(want, have v1.Platform) int {
	if have.OS != want.OS || have.Architecture != want.Architecture {
		return -1
	}
	return slices.Index(variants(want), have.Variant)
}

// choose returns the entry of an index for a platform. Entries without a platform lead to
// further indexes; their positions are in nested.
func choose(index []v1.Descriptor, want v1.Platform) (best *v1.Descriptor, nested []int) {
	bestRank := -1
	for i, d := range index {
		if d.Platform == nil {
			if d.MediaType.IsIndex() {
				nested = append(nested, i)
			}
			continue
		}
		if r := rank(want, *d.Platform); r >= 0 && (bestRank < 0 || r < bestRank) {
			best, bestRank = &index[i], r
		}
	}
	return best, nested
}

// platforms lists the platforms of an index for a message.
func platforms(index []v1.Descriptor) string {
	var all []string
	for _, d := range index {
		if d.Platform != nil && d.Platform.OS != "unknown" && len(all) < 20 {
			all = append(all, platformName(*d.Platform))
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(slices.Compact(all), ", ")
}

func platformName(p v1.Platform) string {
	text := fmt.Sprintf("%.30s/%.30s", p.OS, p.Architecture)
	if p.Variant != "" {
		text += fmt.Sprintf("/%.30s", p.Variant)
	}
	return text
}
