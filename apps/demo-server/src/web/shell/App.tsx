/** The whole page: the header, the current view, and the source beside it. */
import { AccountView } from "../account/AccountView.tsx"
import { AdministrationView } from "../administration/AdministrationView.tsx"
import { AskView } from "../ask/AskView.tsx"
import { ConversationView } from "../conversation/ConversationView.tsx"
import { ConnectView } from "../connect/ConnectView.tsx"
import { LibraryView, UndoBar } from "../library/LibraryView.tsx"
import { DropZone } from "../library/Uploads.tsx"
import { ModelsView } from "../models/ModelsView.tsx"
import { currentRoute } from "../page/route.ts"
import { connectionError, session, signedIn, signIn, signInError } from "../page/session.ts"
import { status } from "../page/status.ts"
import { PlaygroundView } from "../playground/PlaygroundView.tsx"
import { source } from "../source/source.ts"
import { SourcePanel } from "../source/SourcePanel.tsx"
import { ActionForm } from "../ui/ActionForm.tsx"
import { announcement, LoadState, MessageText } from "../ui/Notices.tsx"
import { Banner } from "./Banner.tsx"
import { Header } from "./Header.tsx"

const SignInForm = () => (
  <ActionForm class="sign-in" actions={["Sign in"]} send={(read) => signIn(read("key"))}>
    <h1>{signedIn.value === undefined ? "Sign in" : "Your session has ended"}</h1>
    {signedIn.value !== undefined && <p class="soft">Sign in again. What you wrote is still here.</p>}
    <p class="soft">
      Open the address that the server printed when it started; its login works once. Or enter the system
      access token from the first start, or an API key. API keys can’t manage accounts.
    </p>
    {status.value?.signIn !== undefined && (
      <a class="button primary" href={status.value.signIn.path}>
        Sign in with {status.value.signIn.name}
      </a>
    )}
    <label htmlFor="key">System access token or API key</label>
    <input
      id="key"
      name="key"
      type="password"
      autocomplete="current-password"
      spellcheck={false}
      required
      aria-describedby="key-problem"
    />
    <p id="key-problem" class="problem" role="alert">
      <MessageText text={signInError.value?.message} />
    </p>
  </ActionForm>
)

const VIEWS = {
  account: AccountView,
  administration: AdministrationView,
  ask: AskView,
  connect: ConnectView,
  conversation: ConversationView,
  documents: LibraryView,
  models: ModelsView,
  playground: PlaygroundView
}

/** When a session ends, its view stays, hidden: after the next sign-in, what was written is still there. */
const Main = () => {
  const View = VIEWS[currentRoute.value.view]
  return (
    <>
      {session.value === "unknown" && <LoadState error={connectionError.value} loaded={false} />}
      {session.value === "closed" && <SignInForm />}
      {signedIn.value !== undefined && (
        <div class="view" hidden={session.value !== "open"}>
          <View />
        </div>
      )}
    </>
  )
}

const toMain = (event: Event) => {
  event.preventDefault()
  document.getElementById("main")?.focus()
}

export const App = () => (
  <>
    <a class="skip floating screen-only" href="#main" onClick={toMain}>
      Skip to content
    </a>
    <div class="shell" data-source={source.value === undefined ? "closed" : "open"}>
      <div class="page-behind">
        <Header />
        <Banner />
        <main id="main" tabIndex={-1} data-view={currentRoute.value.view}>
          <Main />
        </main>
      </div>
      <SourcePanel />
    </div>
    {session.value === "open" && currentRoute.value.view !== "playground" && <DropZone />}
    <UndoBar />
    <p class="visually-hidden" aria-live="polite">
      {announcement.value}
    </p>
  </>
)
