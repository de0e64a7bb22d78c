/** Opens sources that may be anywhere, and reads them into a library. */
import type { LibraryService } from "@sluice/rag"
import { documentFormats } from "@sluice/rag/formats"
import { Effect } from "effect"
import { publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"
import type { SourceAccess, SourceAddress } from "../../apps/demo-server/src/sources/kinds/SourceKind.ts"
import { sourceKind } from "../../apps/demo-server/src/sources/kinds/SourceKinds.ts"

export const anywhere = { ...publicAddressPolicy, mayReach: () => true }
export const free: SourceAccess = { policy: anywhere, folders: undefined, formats: documentFormats }

export const open = (source: SourceAddress, access: SourceAccess = free, kind?: string) =>
  sourceKind(source.address, kind)!.open(source, access)

/** Syncs once, and returns the report. */
export const syncInto = (library: LibraryService, source: SourceAddress, kind?: string) =>
  Effect.scoped(Effect.flatMap(open(source, free, kind), ({ items }) => library.sync(source.name, items)))

export const pathsOf = (library: LibraryService) =>
  Effect.map(library.documents, (documents) => documents.map(({ path }) => path))
