// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format rewrites an HCL job file in the canonical layout: two spaces per level, aligned equal
// signs on neighbouring lines, one newline at the end. The meaning is unchanged. The error is
// an *Error as from Parse.
func Format(src []byte, name string) ([]byte, error) {
	if len(src) > MaxSize {
		return nil, tooLarge(name, len(src))
	}
	d := &decoder{problems: problems{file: name, text: src}}
	if d.parseBody() == nil {
		return nil, d.err()
	}
	out := bytes.TrimRight(hclwrite.Format(src), " \t\r\n")
	if len(out) == 0 {
		return nil, nil
	}
	return append(out, '\n'), nil
}
