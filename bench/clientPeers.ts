/** Other clients, if they are installed: see bench/peers/README.md. */
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { say } from "./Bench.ts"

/** Calls by name, such as `openai, embeddings 20 × 1,536 base64`. */
export type Calls = Readonly<Record<string, () => Promise<unknown>>>

const peers = new URL("peers/", import.meta.url)
const { resolve } = createRequire(new URL("package.json", peers))

/** Loads a package of bench/peers only, not one of the same name elsewhere. */
const load = async (name: string): Promise<Record<string, unknown> | undefined> => {
  if (existsSync(new URL(`node_modules/${name}/package.json`, peers))) {
    return import(pathToFileURL(resolve(name)).href)
  }
  say(`${name} is not installed; its figures are left out. See bench/peers/README.md`)
  return undefined
}

type OpenAi = new (options: object) => {
  readonly embeddings: { readonly create: (request: object) => Promise<unknown> }
}
type Cohere = new (options: object) => { readonly rerank: (request: object) => Promise<unknown> }

/** With their default options: `openai` requests base64 and decodes it, `cohere-ai` calls `/v2/rerank`. */
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
