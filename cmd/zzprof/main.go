package main

import (
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
)

func main() {
	runtime.MemProfileRate = 64 << 10
	f, _ := os.Create(os.Getenv("PROF") + ".cpu")
	pprof.StartCPUProfile(f)
	code := cli.Main(append([]string{"kubectl-ds"}, os.Args[1:]...), os.Stdin, os.Stdout, os.Stderr)
	pprof.StopCPUProfile()
	f.Close()
	m, _ := os.Create(os.Getenv("PROF") + ".mem")
	pprof.Lookup("allocs").WriteTo(m, 0)
	m.Close()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	println("total MB", s.TotalAlloc>>20, "sys", s.Sys>>20, "GCs", s.NumGC, "inuse", s.HeapInuse>>20, "gccpu%", int(s.GCCPUFraction*1000))
	os.Exit(code)
}
