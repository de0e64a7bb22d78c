/** The page: ask the documents, read the evidence. */
import { render } from "preact"
import { App } from "./shell/App.tsx"
import { keepFocus } from "./shell/restoreFocus.ts"
import { listenToKeys } from "./shell/shortcuts.ts"
import { refreshStatus } from "./page/status.ts"
import "./page/theme.ts"
import "./styles/main.css"

listenToKeys()
keepFocus()
void refreshStatus()

const root = document.getElementById("app")
if (root !== null) render(<App />, root)
