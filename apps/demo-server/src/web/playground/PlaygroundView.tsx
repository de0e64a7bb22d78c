/** Tries every operation of the gateway. */
import { modelsError } from "../models/models.ts"
import { CAPABILITIES, type Capability, currentRoute, playgroundHref } from "../page/route.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { chatTab } from "./ChatTab.tsx"
import { embedTab } from "./EmbedTab.tsx"
import { imageTab } from "./ImageTab.tsx"
import { lookTab } from "./LookTab.tsx"
import { rerankTab } from "./RerankTab.tsx"
import { type Tab, TabView } from "./Tab.tsx"
import { videoTab } from "./VideoTab.tsx"

const TABS: Record<Capability, Tab> = {
  embed: embedTab,
  rerank: rerankTab,
  chat: chatTab,
  image: imageTab,
  video: videoTab,
  look: lookTab
}

export const PlaygroundView = () => {
  const now = currentRoute.value
  const capability = now.view === "playground" ? now.capability : CAPABILITIES[0]
  return (
    <div class="stack loose playground">
      <h1>Playground</h1>
      <nav class="row near capabilities" aria-label="Capabilities">
        {CAPABILITIES.map((each) => (
          <a key={each} href={playgroundHref(each)} aria-current={each === capability ? "page" : undefined}>
            {TABS[each].name}
          </a>
        ))}
      </nav>
      <p class="lead">{TABS[capability].lead}</p>
      <ErrorMessage error={modelsError.value} />
      <TabView key={capability} capability={capability} tab={TABS[capability]} />
    </div>
  )
}
