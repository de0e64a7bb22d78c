/** Writes the corpus to disk, and makes temporary folders. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Corpus from "./Corpus.ts"

export const SEED = 20_261_121
/** Measured with the default chunker. Used only to choose the number of documents. */
export const PASSAGES_PER_DOCUMENT = 20

export const corpus = Corpus.make(SEED)

/** Number of documents for about `passages` passages. */
export const documentsFor = (passages: number): number =>
  Math.max(1, Math.round(passages / PASSAGES_PER_DOCUMENT))

/** Writes the first `documents` documents below `folder`. */
export const writeCorpus = async (folder: string, documents: number): Promise<void> => {
  for (let at = 0; at < documents; at++) {
    const { path, text } = corpus.document(at)
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** Passes a temporary folder to `use` and deletes it afterwards. */
export const withFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
