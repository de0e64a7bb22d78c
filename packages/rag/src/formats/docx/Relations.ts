/** What a part of a Word document refers to. */
import { type DocxPackage, partName, relationsOf } from "./DocxPackage.ts"
import { readXml } from "./Xml.ts"

export interface Relation {
  /** The last part of its type: `image`, `styles`, `officeDocument` … */
  readonly type: string
  /** The name of a part, or an address outside of the document, which is never opened. */
  readonly target: string
  readonly external: boolean
}

/** By identifier. `name` is empty for the document as a whole. */
export const readRelations = async (
  from: DocxPackage,
  name: string
): Promise<ReadonlyMap<string, Relation>> => {
  const relations = new Map<string, Relation>()
  await readXml(from.read(name === "" ? "_rels/.rels" : relationsOf(name)), {
    open(element, { Id, Target, TargetMode, Type }) {
      if (!/(?:^|:)Relationship$/.test(element) || Id === undefined || Target === undefined) return
      const external = TargetMode === "External"
      const type = (Type ?? "").slice((Type ?? "").lastIndexOf("/") + 1)
      relations.set(Id, { type, external, target: external ? Target : partName(name, Target) })
    }
  })
  return relations
}
