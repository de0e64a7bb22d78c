/** A kind of source: where documents are kept, and how they are read. */
import { type DocumentFormat, formatOf, isHidden } from "@sluice/rag/formats"
import type { SourceItem } from "@sluice/rag"
import { type Effect, Schema, type Scope, type Stream } from "effect"
import type { AddressPolicy, FileFault } from "../../network/PublicFile.ts"

/** How long one file of the network may take. */
export const READ_SECONDS = 60

/** A source could not be read. `message` says what to do. */
export class SourceFault extends Schema.TaggedError<SourceFault>()("SourceFault", {
  message: Schema.String,
  /** Of the response, if there was one. */
  status: Schema.optional(Schema.Int)
}) {}

export const toSourceFault = ({ message, status }: FileFault) => new SourceFault({ message, status })

export interface SourceAddress {
  /** Its name, unique in its collection. Its documents begin with it: `name/…`. */
  readonly name: string
  /** A folder, or a URL. */
  readonly address: string
  /** `user:password`, or a token. */
  readonly credential?: string | undefined
}

/** What may be read: on a server, less than on the command line. */
export interface SourceAccess {
  /** The addresses of hosts that may be reached. */
  readonly policy: AddressPolicy
  /** The folders below which folders may be read; undefined: all of this machine. */
  readonly folders: ReadonlyArray<string> | undefined
  readonly formats: ReadonlyArray<DocumentFormat>
}

export interface SourceContent {
  /** All documents. */
  readonly items: Stream.Stream<SourceItem<SourceFault>, SourceFault>
  /** The paths of documents that change. Absent if the source does not say when something changes. */
  readonly changes?: Stream.Stream<ReadonlyArray<string>, SourceFault>
  /** The documents of such paths: read, or removed. */
  readonly itemsAt?: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<SourceItem<SourceFault>>>
}

/** Registered in `SourceKinds.ts`. */
export interface SourceKind {
  /** Stored, and sent over HTTP: never change it. */
  readonly id: string
  readonly label: string
  /** An example of an address. */
  readonly example: string
  /** Whether an address without a named kind is one of this kind. */
  readonly matches: (address: string) => boolean
  readonly open: (
    source: SourceAddress,
    access: SourceAccess
  ) => Effect.Effect<SourceContent, SourceFault, Scope.Scope>
}

/** Whether a file is of a supported format, and neither hidden nor below a hidden folder. */
export const isDocument = (path: string, formats: ReadonlyArray<DocumentFormat>): boolean =>
  !isHidden(path) && formatOf(path, formats) !== undefined
