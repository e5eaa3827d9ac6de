package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
)

func main() {
	if os.Getenv("PROF") != "" {
		runtime.MemProfileRate = 64 << 10
	}
	cli.SetCollector()
	p := os.Getenv("PROF")
	if p != "" {
		f, _ := os.Create(p + ".cpu")
		if os.Getenv("PROFWAIT") != "" {
			time.AfterFunc(20*time.Second, func() { pprof.StartCPUProfile(f) })
		} else {
			pprof.StartCPUProfile(f)
		}
		defer f.Close()
	}
	var peak uint64
	if p != "" && os.Getenv("PROFWAIT") == "" {
		go func() {
			for {
				time.Sleep(20 * time.Millisecond)
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				if s.HeapAlloc > peak+peak/20 {
					peak = s.HeapAlloc
					m, _ := os.Create(p + ".peak")
					pprof.Lookup("heap").WriteTo(m, 0)
					m.Close()
				}
			}
		}()
	}
	code := cli.Main(append([]string{"kubectl-ds"}, os.Args[1:]...), os.Stdin, os.Stdout, os.Stderr)
	pprof.StopCPUProfile()
	if p != "" {
		m, _ := os.Create(p + ".mem")
		pprof.Lookup("allocs").WriteTo(m, 0)
		m.Close()
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	println("total MB", s.TotalAlloc>>20, "sys", s.Sys>>20, "GCs", s.NumGC, "inuse", s.HeapInuse>>20, "gc permille", int(s.GCCPUFraction*1000), "peak", peak>>20)
	os.Exit(code)
}
