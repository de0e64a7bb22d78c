/** The arguments and results of the MCP tools. Clients and models see these schemas. */
import { between } from "@sluice/core/contract"
import { Schema, Struct } from "effect"
import { ShortFilter, Text } from "../contract/Filter.ts"
import { CollectionReference } from "../contract/Names.ts"

const described = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

const collection = described(
  CollectionReference,
  "A collection of documents. Default: `default`. `list_documents` names them all"
)

const filter = described(
  Schema.Struct(Struct.omit(ShortFilter.fields, ["where"])),
  "Use only these passages: of `documents` (paths, identifiers, or folders that end in /), `pages`, `kinds` and `metadata`"
)

export const SearchArguments = Schema.Struct({
  query: Text.annotate({ description: "A question, or words that the passage should have" }),
  limit: described(between(1, 20), "Passages to return. Default 5"),
  collection,
  filter
})

export const AskArguments = Schema.Struct({
  question: Text.annotate({ description: "A question in a sentence. It must make sense on its own" }),
  collection,
  filter
})

export const GetPassageArguments = Schema.Struct({
  id: Text.annotate({ description: "The identifier of a passage: a document's identifier, #, and a number" }),
  around: described(between(0, 10), "Passages before and after it to return too. Default 0"),
  collection
})

export const ListDocumentsArguments = Schema.Struct({
  text: described(Text, "Only documents whose path or title contains this text"),
  limit: described(between(1, 100), "Documents to return. Default 50"),
  after: described(Text, "The `next` of the previous page"),
  collection
})

const place = {
  headings: Schema.Array(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  locator: Schema.optionalKey(Schema.String)
}

const Passage = Schema.Struct({
  id: Schema.String,
  document: Schema.Struct({ id: Schema.String, path: Schema.String, title: Schema.String }),
  ...place,
  text: Schema.String
})

/** The server's price; absent in a program that bills nobody. */
const cost = Schema.optionalKey(Schema.Int.annotate({ description: "Quota units" }))

export const Passages = Schema.Struct({ passages: Schema.Array(Passage), cost })
export type Passages = typeof Passages.Type

export const CitedAnswer = Schema.Struct({
  answer: Schema.String.annotate({ description: "Sentences with the numbers of their citations" }),
  outcome: Schema.Literals(["answer", "passages", "nothing", "unread"]),
  citations: Schema.Array(
    Schema.Struct({
      n: Schema.Int,
      document: Schema.String.annotate({ description: "The path" }),
      documentId: Schema.String,
      passageId: Schema.String,
      ...place,
      quote: Schema.String
    })
  ),
  closest: Schema.Array(Passage).annotate({ description: "The best passages if there is no answer" }),
  cost
})

export const DocumentList = Schema.Struct({
  collections: Schema.Array(Schema.String),
  total: Schema.Int.annotate({ description: "Documents that match, on all pages" }),
  documents: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      path: Schema.String,
      title: Schema.String,
      format: Schema.String,
      passages: Schema.Int,
      pages: Schema.optionalKey(Schema.Int),
      metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
    })
  ),
  next: Schema.optionalKey(Schema.String.annotate({ description: "Pass it as `after` for the next page" }))
})
