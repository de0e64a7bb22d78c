/** A library of a few texts. */
import { Library, type Retrieval, type RetrieveOptions } from "@sluice/rag"
import { Effect } from "effect"
import { testFolder } from "./TestFolder.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** Ingests the files, given as texts by their paths. */
export const library = (files: Record<string, string>, options?: RetrieveOptions) =>
  Effect.gen(function* () {
    const { library: at } = yield* testFolder
    const opened = yield* Library.open(at, options)
    yield* opened.ingest({
      files: Object.entries(files).map(([path, text]) => ({ path, bytes: bytes(text) }))
    })
    return opened
  })

/** Which documents the kept passages are of, best first. */
export const pathsOf = ({ kept }: Retrieval) => kept.map(({ document }) => document.path)
