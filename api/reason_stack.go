// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "fmt"

// StatusText returns why the stack has its status, as a sentence: the stored one, or that of its reason.
func (s *Stack) StatusText() string {
	if s.StatusDescription != "" {
		return s.StatusDescription
	}
	switch s.StatusReason {
	case ReasonStackFirst:
		return fmt.Sprintf("first of %d.x: it receives all traffic", s.Version.Major)
	case ReasonStackLower, ReasonStackNoTraffic:
		return fmt.Sprintf("%s; shift to it with: reeve stack shift -to %s %s", s.StatusReason.Text(), s.Name, s.Unit)
	}
	return s.StatusReason.Text()
}

// WaitsShiftText completes ReasonStackWaitsShift with the id of the shift.
func WaitsShiftText(id string) string { return "waits for the end of shift " + id }

// WaitsEarlierText completes ReasonStackWaitsEarlier with the stack that is promoted first.
func WaitsEarlierText(stack string) string {
	return fmt.Sprintf("waits for %s, which is promoted first", stack)
}

// ShiftsText completes ReasonStackShift with the stack that the traffic comes from.
func ShiftsText(from string) string { return "traffic shifts to it from " + from }

// OvertakenText completes ReasonStackOvertaken with the newer stack.
func OvertakenText(by string) string { return "overtaken by " + by + ", which is healthy" }

// JobRejectedText completes ReasonStackJobRejected with the cause.
func JobRejectedText(cause error) string { return fmt.Sprintf("its job was rejected: %v", cause) }

// JobFailedText completes ReasonStackJobFailed with the cause.
func JobFailedText(cause string) string { return "its job has failed: " + cause }

// DeploymentFailedText completes ReasonStackDeploymentFailed with the deployment.
func DeploymentFailedText(d *Deployment) string {
	return fmt.Sprintf("deployment %s: %s", ShortID(d.ID), d.StatusDescription)
}

// FromSubmissionText completes ReasonStackFromSubmission with the earlier stack, its namespace if that is another
// one, and the operator's reason; both may be "".
func FromSubmissionText(stack, namespace, reason string) string {
	text := "deployed from the submission of " + stack
	if namespace != "" {
		text += " in namespace " + namespace
	}
	if reason != "" {
		text += ": " + reason
	}
	return text
}
