/** Which models answer, called what they are. */
import { online } from "../api/request.ts"
import { status } from "../page/status.ts"

const ID = "models"

export const ModelBadge = () => {
  const now = status.value
  if (now === undefined) return <span class="badge" />
  const { chat, embedding, rerank } = now.models
  const embedded = now.provider === "embedded"
  return (
    <div class="badge">
      <button type="button" popovertarget={ID}>
        <span class="lamp" data-on={online.value ? now.state : "offline"} />
        <span class="says">
          {!online.value ? "No server" : embedded ? "Lexical, in this process" : "Gateway"}
        </span>
      </button>
      <div id={ID} class="models" popover="auto">
        <p>
          {embedded
            ? "These models run inside the server: no key, no network. They match words, not meaning."
            : "These models answer through the gateway that the server was given."}
        </p>
        <dl>
          <dt>Embeds</dt>
          <dd>{embedding}</dd>
          <dt>Reranks</dt>
          <dd>{rerank}</dd>
          <dt>Reads</dt>
          <dd>{chat}</dd>
        </dl>
        <p class="quiet">
          Sluice {now.version}. <a href="/docs">Reference of its API</a>
        </p>
      </div>
    </div>
  )
}
