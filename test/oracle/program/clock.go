//go:build !before123

package main

import clocktesting "k8s.io/utils/clock/testing"

var newClock = clocktesting.NewFakeClock
