/** The page: ask documents, and check the evidence. */
import { render } from "preact"
import { refreshStatus } from "./page/status.ts"
import { App } from "./shell/App.tsx"
import { listenToShortcuts, restoreFocus } from "./shell/keyboard.ts"
import "./styles/main.css"

listenToShortcuts()
restoreFocus()
void refreshStatus()

const root = document.getElementById("app")
if (root !== null) render(<App />, root)
