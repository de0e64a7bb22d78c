/** The page before the first question. */
import type { ComponentChildren } from "preact"
import { DEFAULT_COLLECTION } from "../../contract/CollectionName.ts"
import { collection, collectionSize } from "../documents/collections.ts"
import { questionHref } from "../page/route.ts"
import { status } from "../page/status.ts"
import { counted } from "../ui/format.ts"
import { WelcomePicture } from "./WelcomePicture.tsx"

const Starters = ({ questions }: { readonly questions: ReadonlyArray<string> }) =>
  questions.length === 0 ? null : (
    <ul class="starters" aria-label="Questions to start with">
      {questions.map((question) => (
        <li key={question}>
          <a href={questionHref(question, DEFAULT_COLLECTION)}>{question}</a>
        </li>
      ))}
    </ul>
  )

interface Props {
  /** The question box. */
  readonly form: ComponentChildren
  /** Earlier questions. */
  readonly children: ComponentChildren
}

export const Welcome = ({ children, form }: Props) => {
  const now = status.value
  const isDefault = collection.value === DEFAULT_COLLECTION
  const { documents = 0, passages = 0 } = collectionSize.value
  // The starters are about the samples, which may still be in ingestion.
  const hasSamples = documents > 0 || now?.state !== "ready"
  return (
    <div class="welcome">
      <h1>
        Ask your documents. <em>See the evidence.</em>
      </h1>
      <p class="lead">
        Sluice retrieves 20 passages, reranks them, and answers from the best 3, with a source for every
        sentence.
      </p>
      {form}
      {isDefault && hasSamples && <Starters questions={now?.questions ?? []} />}
      <WelcomePicture />
      {now !== undefined && (
        <p class="stock">
          {documents === 0
            ? `${isDefault ? "The library" : "This collection"} is empty. `
            : `${counted(documents, "document")}, ${counted(passages, "passage")}. `}
          <a href="#documents">{documents === 0 ? "Add documents" : "View documents"}</a>, or drop files and
          folders anywhere on this page.
        </p>
      )}
      {children}
    </div>
  )
}
