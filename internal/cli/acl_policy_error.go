// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// maxPolicyLine bounds the part of a long line that an error shows, in bytes.
const maxPolicyLine = 120

// inPolicyFile replaces the policy's name in the positions of an error with that of its file, and
// adds the lines of the file.
func inPolicyFile(err error, policy, file, text string) error {
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeInvalid && e.Code != api.CodeForbidden {
		return err
	}
	lines := strings.Split(text, "\n")
	shown := *e
	shown.Message = problemInFile(e.Message, policy, file, lines)
	shown.Detail = nil
	for _, problem := range e.Detail {
		shown.Detail = append(shown.Detail, problemInFile(problem, policy, file, lines))
	}
	return &shown
}

// problemInFile rewrites one problem of the form POLICY:LINE:COLUMN: TEXT.
func problemInFile(problem, policy, file string, lines []string) string {
	at, ok := strings.CutPrefix(problem, policy+":")
	if !ok {
		return problem
	}
	line, _, _ := strings.Cut(at, ":")
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(lines) {
		return problem
	}
	source := strings.TrimSpace(lines[n-1])
	if len(source) > maxPolicyLine {
		source = strings.ToValidUTF8(source[:maxPolicyLine], "") + "..."
	}
	rewritten := file + ":" + at
	if source != "" {
		rewritten += "\n    " + line + " | " + source
	}
	return rewritten
}
