//go:build before123

package main

import "k8s.io/apimachinery/pkg/util/clock"

var newClock = clock.NewFakeClock
