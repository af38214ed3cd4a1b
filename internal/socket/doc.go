// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package socket asks the kernel about the other end of a TCP connection: the user who created
// it, and the control group in which it was created. It knows neither processes nor tasks.
package socket
