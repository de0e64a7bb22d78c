/** A corpus on disk, in a temporary folder that is removed afterwards. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Corpus from "./Corpus.ts"

export const SEED = 20_261_121
/** What a document of the corpus comes to, with the default chunker; measured, and only used to choose how many. */
export const PASSAGES_A_DOCUMENT = 20

export const corpus = Corpus.make(SEED)

/** How many documents make about `passages` passages. */
export const documentsFor = (passages: number): number =>
  Math.max(1, Math.round(passages / PASSAGES_A_DOCUMENT))

/** Writes the first `documents` documents below `folder`. */
export const writeCorpus = async (folder: string, documents: number): Promise<void> => {
  for (let at = 0; at < documents; at++) {
    const { path, text } = corpus.document(at)
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** A temporary folder for as long as `use` runs. */
export const withFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
