module github.com/kubectl-ds/kubectl-ds/test/scheduler/wire

go 1.26.0
