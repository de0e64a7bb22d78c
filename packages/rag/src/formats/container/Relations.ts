/** Relations between the parts of an Office document. */
import { posix } from "node:path"
import { readTree } from "./Xml.ts"
import type { ZipContainer } from "./ZipContainer.ts"

/** A reference from one part to another. */
export interface Relation {
  /** The last segment of its type: `image`, `styles`, `officeDocument` … */
  readonly type: string
  /** The name of a part, or an external address, which is never opened. */
  readonly target: string
  readonly external: boolean
}

/** The relations of a part by id. `name` is empty for those of the package. */
export const readRelations = async (
  from: ZipContainer,
  name: string
): Promise<ReadonlyMap<string, Relation>> => {
  const relations = new Map<string, Relation>()
  const folder = posix.dirname(name)
  const part = posix.join(folder, "_rels", `${posix.basename(name)}.rels`)
  const [root] = (await readTree(from.read(part))).children
  for (const { attributes, name: element } of root?.children ?? []) {
    const { Id, Target, TargetMode, Type = "" } = attributes
    if (!/(?:^|:)Relationship$/.test(element) || Id === undefined || Target === undefined) continue
    const external = TargetMode === "External"
    const target = Target.startsWith("/")
      ? posix.normalize(Target).slice(1)
      : posix.normalize(posix.join(folder, Target))
    const type = Type.slice(Type.lastIndexOf("/") + 1)
    relations.set(Id, { type, external, target: external ? Target : target })
  }
  return relations
}

/** The part with a relation of this type. */
export const targetOf = (relations: ReadonlyMap<string, Relation>, type: string): string | undefined =>
  [...relations.values()].find((relation) => relation.type === type && !relation.external)?.target
