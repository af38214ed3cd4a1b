// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package reschedule computes when a failed allocation may be replaced: by the
// reschedule policy of its group, or by the limit of rejections of its job. It also
// keeps the history of attempts.
package reschedule
