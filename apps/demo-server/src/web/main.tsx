/** The page: ask the documents, read the evidence. */
import { render } from "preact"
import { App } from "./components/App.tsx"
import { keepFocus } from "./components/keepFocus.ts"
import { listenToKeys } from "./state/keys.ts"
import { refreshStatus } from "./state/status.ts"
import "./state/theme.ts"
import "./styles/main.css"

listenToKeys()
keepFocus()
void refreshStatus()

const root = document.getElementById("app")
if (root !== null) render(<App />, root)
