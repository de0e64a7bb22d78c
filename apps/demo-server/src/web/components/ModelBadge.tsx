/** Which models answer, called what they are. */
import { online } from "../api/request.ts"
import { status } from "../state/status.ts"

export const ModelBadge = () => {
  const now = status.value
  if (now === undefined) return <span class="badge" />
  const { chat, embedding, rerank } = now.models
  return (
    <details class="badge">
      <summary>
        <span class="lamp" data-on={online.value ? now.state : "offline"} />
        {!online.value ? "No server" : now.provider === "embedded" ? "Lexical, in this process" : "Gateway"}
      </summary>
      <div class="badge-models">
        <p>
          {now.provider === "embedded"
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
        <p class="quiet">Sluice {now.version}</p>
      </div>
    </details>
  )
}
