package view

import (
	"io"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// mostNamed is the maximum number of DaemonSets that the first screen names.
const mostNamed = 8

// Start writes the first screen, for a user who ran the program without arguments. It names the DaemonSets whose status
// has unavailable or outdated pods, worst first, and the next command. It uses only their statuses. All of them are
// from namespace, or from all namespaces if that is "".
func Start(w io.Writer, all []appsv1.DaemonSet, namespace string, asked sheet.Asked, style wording.Style) error {
	unsettled := explain.Unsettled(all)
	s := &screen.Screen{Headline: screen.Headline{Counts: true, Subject: wording.Plural(len(all), "DaemonSet"),
		Text: "all pods are available and updated", Tone: screen.Good}}
	where := screen.Word("-A")
	if namespace != "" {
		where = "-n " + screen.Quote(namespace)
	}
	list := sheet.WithFlags(screen.Command{asked.Own("explain"), where}, asked.Kubectl...)
	if len(unsettled) == 0 {
		sheet.Look(s, screen.DoNow, "look for warnings", list)
	} else {
		s.Headline.Text = strconv.Itoa(len(unsettled)) + " with pods that are not available or not updated"
		s.Headline.Tone = screen.Warn
		t := &screen.Table{Columns: []screen.Column{{Head: "DAEMONSET"}, {Head: "DESIRED", Right: true},
			{Head: "UP-TO-DATE", Right: true}, {Head: "AVAILABLE", Right: true}}}
		for _, ds := range unsettled[:min(mostNamed, len(unsettled))] {
			t.Row(ds.Namespace+"/"+ds.Name, strconv.Itoa(int(ds.Status.DesiredNumberScheduled)),
				strconv.Itoa(int(ds.Status.UpdatedNumberScheduled)), strconv.Itoa(int(ds.Status.NumberAvailable)))
		}
		s.Add(screen.Body, t)
		first := sheet.WithFlags(screen.Command{asked.Own("explain"), "-n " + screen.Quote(unsettled[0].Namespace),
			screen.Quote(unsettled[0].Name)}, asked.Kubectl...)
		sheet.Look(s, screen.DoNow, "see why, and what to do", first)
		sheet.Look(s, screen.Then, "see all of them, the worst first", list)
	}
	s.Add(screen.Note, screen.Text("these are the numbers of each status, as kubectl get shows them; "+
		string(asked.Own("--help"))+" lists the commands"))
	return sheet.WriteOne(w, s, style)
}
