/** `sluice summarise DOCUMENT…`: a summary of documents, with a source for every sentence. */
import { Filter, type Summary, type SummaryPlan } from "@sluice/rag"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { resolveDocument } from "../library/FindDocument.ts"
import { booleanFlag, countFlag, docsFlag, examples, libraryFlags, optionalFlag } from "../library/Flags.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { whenMissing, withLibrary } from "../library/OpenLibrary.ts"
import { renderCitation } from "../output/AnswerOutput.ts"
import { printResult } from "../output/Output.ts"

const renderPlan = (plan: SummaryPlan): string =>
  [
    `${plan.passages} of ${plan.matching} passages of ${plan.documents} document(s)`,
    plan.method === "extractive"
      ? "Extractive: sentences of the documents, without a model"
      : `${plan.calls} calls of the model, about ${plan.inputTokens} tokens in and ${plan.outputTokens} out`
  ].join("\n")

const render = ({ citations, notRead, plan, text }: Summary): string =>
  [
    ...(plan.method === "extractive" ? ["Sentences of the documents; no model wrote this summary."] : []),
    text === "" ? "No sentence was found." : text,
    ...(notRead === undefined ? [] : [`(This summary is incomplete. ${notRead.message} ${notRead.advice})`]),
    ...citations.map(renderCitation)
  ].join("\n\n")

export const summariseCommand = Command.make(
  "summarise",
  {
    documents: Argument.String("document").pipe(
      Argument.withDescription("A document: its path, the end of its path, or its identifier. Default: all"),
      Argument.variadic()
    ),
    docs: docsFlag,
    ...libraryFlags,
    plan: booleanFlag("plan", "Only print what would be read, and the calls and tokens of the model"),
    sentences: optionalFlag(countFlag("sentences"), "Sentences of the summary. Default 8"),
    tokens: optionalFlag(countFlag("tokens"), "Tokens of passages that are read at most. Default 50,000"),
    question: optionalFlag(Flag.String("question"), "What to look for. Default: the main points"),
    extractive: booleanFlag("extractive", "Choose sentences of the documents, without a model")
  },
  ({ collection, data, docs, documents, extractive, json, plan, question, sentences, tokens }) =>
    withLibrary({ collection, data, missing: whenMissing(docs) }, function* (library) {
      yield* ingestDocs(library, docs)
      const ids = yield* Effect.forEach(documents, (name) => resolveDocument(library, name))
      const options = {
        filter: ids.length === 0 ? undefined : Filter.in("document", ids),
        method: extractive ? ("extractive" as const) : undefined,
        question: Option.getOrUndefined(question),
        sentences: Option.getOrUndefined(sentences),
        tokens: Option.getOrUndefined(tokens)
      }
      if (plan) {
        const planned = yield* library.planSummary(options)
        return yield* printResult(json, planned, () => renderPlan(planned))
      }
      const summary = yield* library.summarise(options)
      yield* printResult(json, summary, () => render(summary))
    })
).pipe(
  Command.withDescription("Summarise documents, with a source for every sentence"),
  examples({
    "sluice summarise handbook/gates.md": "Summarise a document",
    "sluice summarise gates.md locks.md --plan": "See first what the model would read"
  })
)
