/** Tries every operation of the gateway. */
import type { JSX } from "preact"
import { modelsError } from "../models/models.ts"
import { CAPABILITIES, type Capability, currentRoute, playgroundHref } from "../page/route.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { ChatTab } from "./ChatTab.tsx"
import { EmbedTab } from "./EmbedTab.tsx"
import { ImageTab } from "./ImageTab.tsx"
import { LookTab } from "./LookTab.tsx"
import { RerankTab } from "./RerankTab.tsx"
import { VideoTab } from "./VideoTab.tsx"

const TABS: Record<Capability, { name: string; lead: string; View: () => JSX.Element }> = {
  embed: { name: "Embed", lead: "Compare two texts.", View: EmbedTab },
  rerank: { name: "Rerank", lead: "Order documents by relevance to a question.", View: RerankTab },
  chat: { name: "Chat", lead: "Chat with a model. Answers are streamed.", View: ChatTab },
  image: { name: "Image", lead: "Generate an image from a text.", View: ImageTab },
  video: {
    name: "Video",
    lead: "Generate a video from a text. It takes a while; progress is shown.",
    View: VideoTab
  },
  look: { name: "Vision", lead: "Ask a question about an image.", View: LookTab }
}

export const PlaygroundView = () => {
  const now = currentRoute.value
  const capability = now.view === "playground" ? now.capability : CAPABILITIES[0]
  const { View, lead } = TABS[capability]
  return (
    <div class="playground">
      <h1>Playground</h1>
      <nav class="capabilities" aria-label="Capabilities">
        {CAPABILITIES.map((each) => (
          <a key={each} href={playgroundHref(each)} aria-current={each === capability ? "page" : undefined}>
            {TABS[each].name}
          </a>
        ))}
      </nav>
      <p class="lead">{lead}</p>
      <ErrorMessage error={modelsError.value} />
      <View key={capability} />
    </div>
  )
}
