// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
)

// evidenceMark separates a violation from the place of its evidence, which a ledger omits.
const evidenceMark = "; history: "

// Append adds the summary to a ledger: a file with one JSON object per line.
func (s *Summary) Append(path string) error {
	entry := *s
	entry.Evidence, entry.Violations, entry.UndecidedRounds = nil, withoutPlace(s.Violations), withoutPlace(s.UndecidedRounds)
	line, err := json.Marshal(&entry)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// withoutPlace returns findings without the places of their evidence.
func withoutPlace(found []string) []string {
	found = slices.Clone(found)
	for i, text := range found {
		found[i], _, _ = strings.Cut(text, evidenceMark)
	}
	return found
}
