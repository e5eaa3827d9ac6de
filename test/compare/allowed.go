package compare

// defaultBase is the newest commit that changed answers on purpose: whoever does so again
// moves it.
const defaultBase = "26157ec1"

// allowed is what may differ from defaultBase.
var allowed = []difference{}
