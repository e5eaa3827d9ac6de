package compare

// defaultBase is the newest commit that changed answers on purpose: whoever does so again
// moves it.
const defaultBase = "b43ecaa"

// allowed is what may differ from defaultBase.
var allowed = []difference{
	{
		was: `kubectl ds is for DaemonSets only`, is: "this plugin is for DaemonSets only",
		why: "the plugin may have another name",
	},
	{
		was: `this version of kubectl ds does not know`, is: "this version of the plugin does not know",
		why: "the plugin may have another name, and a Markdown page does not know which",
	},
	{
		was: `version of kubectl\n( *)ds does not know`, is: "version of the\n${1}plugin does not know",
		why: "so do its words where the line breaks",
	},
}
