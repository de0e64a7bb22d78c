import { render } from "preact"

render(<h1>Sluice</h1>, document.getElementById("app")!)
