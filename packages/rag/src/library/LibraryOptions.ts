/** The options of a library's methods beside those of retrieval, for programs without types. */
import { Schema } from "effect"
import type { ConversationOptions } from "../answering/Standalone.ts"
import {
  countOption,
  durationOption,
  type RetrieveOptions,
  type StageOption,
  stageOption
} from "../retrieval/stages/RetrieveOptions.ts"
import type { StoreOptions } from "../store/lance/LanceIndex.ts"
import type { SummaryOptions } from "../summary/Summary.ts"
import type { LibraryOptions, ListOptions } from "./LibraryService.ts"

/** A declaration for each option that is not one of retrieval. */
type Declared<A> = { readonly [K in Exclude<keyof A, keyof RetrieveOptions>]: StageOption }

const text = stageOption(Schema.String, "a text")
const flag = stageOption(Schema.Boolean, "true or false")
const context = Schema.Struct({
  passages: Schema.optional(Schema.Int.check(Schema.isGreaterThan(0))),
  tokens: Schema.optional(Schema.Finite.check(Schema.isGreaterThan(0))),
  section: Schema.optional(Schema.Boolean)
})
const turn = Schema.Struct({
  question: Schema.String,
  standalone: Schema.optional(Schema.String),
  answer: Schema.optional(Schema.String)
})

export const QUESTION_OPTIONS: Declared<ConversationOptions> = {
  context: stageOption(context, "{ passages, tokens, section }, with numbers above 0"),
  verify: stageOption(Schema.Literals(["mark", "drop", "off"]), '"mark", "drop" or "off"'),
  multi: flag,
  history: stageOption(Schema.Array(turn), "an array of turns: { question, standalone, answer }"),
  standalone: text
}

export const LIBRARY_OPTIONS: Declared<LibraryOptions & StoreOptions> = {
  context: QUESTION_OPTIONS.context,
  verify: QUESTION_OPTIONS.verify,
  multi: flag,
  collection: text,
  describeFigures: flag,
  scannedPages: countOption,
  storageOptions: stageOption(Schema.Record(Schema.String, Schema.String), "an object of texts"),
  apiKey: stageOption(Schema.Union([Schema.String, Schema.Redacted(Schema.String)]), "a text or a Redacted"),
  region: text,
  hostOverride: text,
  keepFor: durationOption,
  keepVersions: countOption
}

/** It is checked with the formats of the documents. */
const filter = stageOption(Schema.Unknown, "a filter")

export const LIST_OPTIONS: Declared<ListOptions> & { readonly filter: StageOption } = {
  filter,
  after: text,
  limit: countOption
}

export const SUMMARY_OPTIONS: Declared<SummaryOptions> & { readonly filter: StageOption } = {
  filter,
  tokens: countOption,
  sentences: countOption,
  question: text,
  method: stageOption(Schema.Literals(["model", "extractive"]), '"model" or "extractive"')
}
