/** What documents and their pages say, read once. */
import type { DocumentText, PageContent } from "../../contract/index.ts"
import { request } from "../api/request.ts"
import { pathIn } from "../api/collectionPath.ts"

const texts = new Map<string, Promise<DocumentText>>()
const pages = new Map<string, Promise<PageContent>>()

const once = <A>(known: Map<string, Promise<A>>, path: string): Promise<A> => {
  const before = known.get(path)
  if (before !== undefined) return before
  const loading = request<A>("GET", path)
  known.set(path, loading)
  loading.catch(() => known.delete(path))
  return loading
}

export const loadText = (collection: string, id: string): Promise<DocumentText> =>
  once(texts, pathIn(collection, `/documents/${id}`))
export const loadPage = (collection: string, id: string, number: number): Promise<PageContent> =>
  once(pages, pathIn(collection, `/documents/${id}/pages/${number}`))

/** After documents changed, what was read of them may be old. */
export const forgetTexts = (): void => {
  texts.clear()
  pages.clear()
}
