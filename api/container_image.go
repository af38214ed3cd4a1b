// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
)

// imageProblem says what is certainly wrong with an image's name; "" if nothing is, or if the name is known on the node
// alone. The node knows the whole grammar.
func imageProblem(image string) string {
	if isOpen(image) || strings.HasPrefix(image, "oci:") {
		return ""
	}
	if strings.TrimSpace(image) == "" {
		return "image is missing"
	}
	if strings.ContainsAny(image, " \t\r\n") {
		return fmt.Sprintf("image %q contains white space: write it like busybox:1.36", image)
	}
	registry, repository := "", strings.TrimPrefix(image, "docker://")
	if first, rest, more := strings.Cut(repository, "/"); more && (strings.ContainsAny(first, ".:") || first == "localhost") {
		registry, repository = first+"/", rest
	}
	repository, _, _ = strings.Cut(repository, "@")
	if at := strings.LastIndex(repository, ":"); at >= 0 {
		repository = repository[:at]
	}
	if lower := strings.ToLower(repository); lower != repository {
		return fmt.Sprintf("image %q has capital letters in the name of its repository, which no registry has: write %s%s", image, registry, lower)
	}
	return ""
}
