/** The whole page: header, what the route shows, and the source beside it. */
import { announcement } from "../ui/announce.ts"
import { route } from "../page/route.ts"
import { session, unknownBecause, who } from "../page/session.ts"
import { source } from "../source/source.ts"
import { AccountView } from "../account/AccountView.tsx"
import { AdministrationView } from "../administration/AdministrationView.tsx"
import { AskView } from "../ask/AskView.tsx"
import { Banner } from "./Banner.tsx"
import { DropZone } from "../library/DropZone.tsx"
import { Header } from "./Header.tsx"
import { LibraryView } from "../library/LibraryView.tsx"
import { Loading } from "../ui/Loading.tsx"
import { ModelsView } from "../models/ModelsView.tsx"
import { PlaygroundView } from "../playground/PlaygroundView.tsx"
import { Problem } from "../ui/Problem.tsx"
import { SignIn } from "./SignIn.tsx"
import { SourcePanel } from "../source/SourcePanel.tsx"
import { UndoBar } from "../library/UndoBar.tsx"

/** Of a session that has ended it stays, unseen: what was written in it is there again after the next sign-in. */
const View = () => (
  <>
    {session.value === "unknown" && (
      <>
        <Problem failure={unknownBecause.value} />
        <Loading until={unknownBecause.value !== undefined} />
      </>
    )}
    {session.value === "closed" && <SignIn />}
    {who.value !== undefined && (
      <div class="view" hidden={session.value !== "open"}>
        <Place />
      </div>
    )}
  </>
)

const Place = () => {
  const now = route.value
  switch (now.view) {
    case "documents":
      return <LibraryView />
    case "models":
      return <ModelsView />
    case "account":
      return <AccountView />
    case "administration":
      return <AdministrationView />
    case "playground":
      return <PlaygroundView capability={now.capability} />
    case "ask":
      return <AskView />
  }
}

const toMain = (event: Event) => {
  event.preventDefault()
  document.getElementById("main")?.focus()
}

export const App = () => (
  <>
    <a class="skip" href="#main" onClick={toMain}>
      Skip to content
    </a>
    <div class="shell" data-source={source.value === undefined ? "closed" : "open"}>
      <div class="behind">
        <Header />
        <Banner />
        <main id="main" tabIndex={-1} data-view={route.value.view}>
          <View />
        </main>
      </div>
      <SourcePanel />
    </div>
    {session.value === "open" && route.value.view !== "playground" && <DropZone />}
    <UndoBar />
    <p class="unseen" aria-live="polite">
      {announcement.value}
    </p>
  </>
)
