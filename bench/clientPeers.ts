/** The clients of other makers, where they are installed: see bench/peers/README.md. */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { say } from "./Bench.ts"

/** One call by its name, such as `openai, embeddings 20 × 1,536 base64`. */
export type Calls = Readonly<Record<string, () => Promise<unknown>>>

const require = createRequire(new URL("peers/package.json", import.meta.url))

const load = async (name: string): Promise<Record<string, unknown> | undefined> => {
  try {
    return await import(pathToFileURL(require.resolve(name)).href)
  } catch {
    say(
      `${name} is missing, its figures are left out: npm install --prefix bench/peers (see bench/peers/README.md)`
    )
    return undefined
  }
}

type OpenAi = new (options: object) => {
  readonly embeddings: { readonly create: (request: object) => Promise<unknown> }
}
type Cohere = new (options: object) => { readonly rerank: (request: object) => Promise<unknown> }

/** `openai` asks for base64 and decodes it, by default; `cohere-ai` calls `/v2/rerank`. Both as their makers set them. */
export const peerCalls = async (baseUrl: string, texts: ReadonlyArray<string>): Promise<Calls> => {
  const calls: Record<string, () => Promise<unknown>> = {}
  const openai = await load("openai")
  if (openai !== undefined) {
    const client = new (openai["OpenAI"] as OpenAi)({ apiKey: "k", baseURL: `${baseUrl}/v1` })
    calls["openai, embeddings 20 × 1,536 base64"] = () =>
      client.embeddings.create({ model: "base64", input: texts })
  }
  const cohere = await load("cohere-ai")
  if (cohere !== undefined) {
    const client = new (cohere["CohereClientV2"] as Cohere)({ token: "k", environment: baseUrl })
    calls["cohere-ai, rerank of 20"] = () => client.rerank({ model: "rerank", query: "q", documents: texts })
  }
  return calls
}
