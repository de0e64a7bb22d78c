import { findAll, readTree } from "../container/Xml.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"

/** The title in the properties of an OpenDocument file; empty if there is none. */
export const openDocumentTitle = async (from: ZipContainer): Promise<string> =>
  findAll(await readTree(from.read("meta.xml")), ["dc:title"])[0]
    ?.text.replace(/\s+/g, " ")
    .trim() ?? ""
