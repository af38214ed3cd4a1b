// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reeve-run/reeve/api"
)

// Bounds of labels, which are also kept by the systems that read them.
const (
	maxLabel   = 128 // bytes of a value
	maxTagName = 64  // bytes of a label's name
	maxTags    = 8   // of a group
)

// Label returns the text as the value of a label: valid UTF-8 of at most 128 bytes. The end of a changed
// text is a digest, so that different texts remain different.
func Label(text string) string {
	if len(text) <= maxLabel && utf8.ValidString(text) {
		return text
	}
	digest := sha256.Sum256([]byte(text))
	clean := strings.ToValidUTF8(text[:min(len(text), maxLabel/2)], "?")
	return clean + "~" + hex.EncodeToString(digest[:16])
}

// Tags returns the names and values of the labels for a group's static metric tags, ordered by name. Tags
// with dynamic values belong to single instances, which have no series.
func Tags(tags map[string]*api.MetricTag) (names, values []string) {
	if len(tags) == 0 {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		tag := tags[name]
		if tag == nil || tag.Static == "" || len(names) == maxTags {
			continue
		}
		label := tagLabel(name)
		if slices.Contains(names, label) {
			continue // another spelling of the same label
		}
		names, values = append(names, label), append(values, Label(tag.Static))
	}
	return names, values
}

// tagLabel returns the name of a tag's label. The prefix keeps tags apart from labels of Reeve.
func tagLabel(name string) string {
	return "tag_" + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, name[:min(len(name), maxTagName)])
}
