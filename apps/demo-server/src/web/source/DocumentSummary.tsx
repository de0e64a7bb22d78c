/** The summary of the document that is open. What it costs is shown first. */
import { signal } from "@preact/signals"
import type { SummaryBody, SummaryPlanBody } from "../../contract/index.ts"
import { request, type RequestError, toRequestError } from "../api/request.ts"
import { isDemo } from "../page/status.ts"
import { Button } from "../ui/Button.tsx"
import { pluralize, usd } from "../ui/format.ts"
import { announce, ErrorMessage, MessageText } from "../ui/Notices.tsx"
import { openQuote } from "./source.ts"

interface SummaryState {
  readonly documentId: string
  readonly busy: boolean
  readonly plan?: SummaryPlanBody["plan"]
  readonly summary?: SummaryBody
  readonly error?: RequestError
}

const state = signal<SummaryState>()

const summarise = async (collection: string, documentId: string): Promise<void> => {
  const ask = <A,>(plan: boolean) =>
    request<A>("POST", "/summary", { body: { collection, plan, filter: { documents: [documentId] } } })
  const update = (change: Partial<SummaryState>): void => {
    if (state.value?.documentId === documentId) state.value = { ...state.value, ...change }
  }
  const planned = state.value?.documentId === documentId ? state.value.plan : undefined
  state.value = { documentId, busy: true, ...(planned !== undefined && { plan: planned }) }
  try {
    const plan = planned ?? (await ask<SummaryPlanBody>(true)).plan
    if (planned === undefined && plan.calls > 0) return update({ plan, busy: false })
    update({ summary: await ask<SummaryBody>(false), busy: false })
    announce("Summarised.")
  } catch (thrown) {
    update({ error: toRequestError(thrown), busy: false })
  }
}

const SummaryText = ({ summary }: { readonly summary: SummaryBody }) => (
  <>
    {summary.sentences.length === 0 && <p>No sentence was found.</p>}
    <ul class="stack tight">
      {summary.sentences.map((sentence, at) => (
        <li key={at}>
          {sentence.text}{" "}
          {summary.citations
            .filter(({ n }) => sentence.citations.includes(n))
            .map((citation) => (
              <button
                key={citation.n}
                class="citation"
                type="button"
                aria-label={`Source of sentence ${at + 1}: ${citation.n}`}
                onClick={() => openQuote(citation)}
              >
                {citation.n}
              </button>
            ))}
        </li>
      ))}
    </ul>
    {summary.notRead !== undefined && (
      <p class="problem">
        This summary is incomplete. <MessageText text={summary.notRead.message} />{" "}
        <MessageText text={summary.notRead.advice} />
      </p>
    )}
    <p class="quiet">
      {summary.plan.method === "extractive"
        ? "Sentences of the document; no model wrote this summary."
        : summary.cost !== undefined && `${usd(summary.cost)}${isDemo.value ? " demo credit" : ""}`}
      {summary.plan.passages < summary.plan.matching &&
        ` From ${summary.plan.passages} of ${summary.plan.matching} passages.`}
    </p>
  </>
)

export const DocumentSummary = ({ collection, documentId }: Record<"collection" | "documentId", string>) => {
  const now = state.value?.documentId === documentId ? state.value : undefined
  const plan = now?.plan
  return (
    <section class="summary" aria-label="Summary" aria-busy={now?.busy === true}>
      {plan !== undefined && now?.summary === undefined && (
        <p class="quiet">
          Reads {pluralize(plan.passages, "passage")} in {pluralize(plan.calls, "call")} of the model, about{" "}
          {usd(plan.cost)}
          {isDemo.value && " demo credit"}.
        </p>
      )}
      <ErrorMessage error={now?.error} />
      {now?.summary !== undefined ? (
        <SummaryText summary={now.summary} />
      ) : (
        <Button aria-disabled={now?.busy === true} onClick={() => void summarise(collection, documentId)}>
          {now?.busy === true ? "Summarising…" : plan === undefined ? "Summarise" : "Summarise now"}
        </Button>
      )}
    </section>
  )
}
