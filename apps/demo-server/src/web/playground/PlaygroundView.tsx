/** Every capability of the gateway, to be tried. */
import { CAPABILITIES, playgroundHref, type Capability } from "../page/route.ts"
import { modelsFailure } from "../models/models.ts"
import { ChatTry } from "./ChatTry.tsx"
import { EmbedTry } from "./EmbedTry.tsx"
import { ImageTry } from "./ImageTry.tsx"
import { LookTry } from "./LookTry.tsx"
import { RerankTry } from "./RerankTry.tsx"
import { VideoTry } from "./VideoTry.tsx"
import { Problem } from "../ui/Problem.tsx"

interface Entry {
  readonly name: string
  readonly lead: string
  readonly View: () => preact.JSX.Element
}

export const ENTRIES: Record<Capability, Entry> = {
  embed: {
    name: "Compare",
    lead: "Two texts become vectors, and the angle between them says how alike they are.",
    View: EmbedTry
  },
  rerank: {
    name: "Rerank",
    lead: "Documents are put in the order of their relevance to a question.",
    View: RerankTry
  },
  chat: { name: "Chat", lead: "A conversation, answered piece by piece as it is written.", View: ChatTry },
  image: { name: "Image", lead: "A text becomes an image, from another one if you like.", View: ImageTry },
  video: {
    name: "Video",
    lead: "A text becomes a film: a task that is followed until it has ended.",
    View: VideoTry
  },
  look: { name: "Look", lead: "A question about a picture.", View: LookTry }
}

export const PlaygroundView = ({ capability }: { readonly capability: Capability }) => {
  const { View, lead } = ENTRIES[capability]
  return (
    <div class="playground">
      <h1>Playground</h1>
      <nav class="capabilities" aria-label="Capabilities">
        {CAPABILITIES.map((each) => (
          <a key={each} href={playgroundHref(each)} aria-current={each === capability ? "page" : undefined}>
            {ENTRIES[each].name}
          </a>
        ))}
      </nav>
      <p class="lead">{lead}</p>
      <Problem failure={modelsFailure.value} />
      <View key={capability} />
    </div>
  )
}
