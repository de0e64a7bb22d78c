/** `sluice sync ADDRESS`: keeps the library's copy of a source up to date. */
import type { IngestReport, LibraryService } from "@sluice/rag"
import { DocumentFormats } from "@sluice/rag/formats"
import { Config, Effect, Option, Redacted, Schedule, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { StartError } from "../../config/StartError.ts"
import { publicAddressPolicy } from "../../network/PublicFile.ts"
import { SourceFault, type SourceKind } from "../../sources/kinds/SourceKind.ts"
import { sourceKind, sourceKinds, unknownKind } from "../../sources/kinds/SourceKinds.ts"
import { sourceNameOf } from "../../sources/SourceName.ts"
import { booleanFlag, countFlag, examples, libraryFlags, optionalFlag } from "../library/Flags.ts"
import { followIngest, plural, printReport, rejectServed } from "../library/IngestFolder.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { note, noteOnInterrupt } from "../output/Output.ts"

/** Changes of a watched folder that are read at the same time: one may be a scan. */
const CHANGES = 8

/** On the command line, everything that this user may reach and read. */
const access = Effect.map(DocumentFormats, (formats) => ({
  formats,
  folders: undefined,
  policy: { ...publicAddressPolicy, mayReach: () => true }
}))

interface SyncOptions {
  readonly name: string
  readonly address: string
  readonly kind: SourceKind
  readonly json: boolean
  readonly watch: boolean
}

const syncOnce = Effect.fn("cli.sync")(function* (
  library: LibraryService,
  { address, json, kind, name, watch }: SyncOptions
) {
  const credential = Option.getOrUndefined(
    Option.map(yield* Config.option(Config.Redacted("SLUICE_SOURCE_CREDENTIAL")), Redacted.value)
  )
  const { changes, items, itemsAt } = yield* kind.open({ name, address, credential }, yield* access)
  const print = (report: IngestReport) => printReport(json, report, name)
  const all = Effect.flatMap(followIngest("Syncing", library.syncEvents(name, items)), print)
  if (!watch) return yield* all
  if (changes === undefined || itemsAt === undefined)
    return yield* new StartError({
      message: "Only folders are watched. Use --every MINUTES for other sources"
    })
  yield* note(`Watching ${address}. Ctrl-C stops.`)
  yield* changes.pipe(
    Stream.mapEffect(itemsAt),
    Stream.mapEffect((changed) => library.sync(name, Stream.fromIterable(changed), { partial: true }), {
      concurrency: CHANGES,
      unordered: true
    }),
    Stream.runForEach(print),
    // The watcher runs first, so that no change is missed meanwhile.
    Effect.race(Effect.andThen(all, Effect.never))
  )
}, Effect.scoped)

export const syncCommand = Command.make(
  "sync",
  {
    address: Argument.String("address").pipe(
      Argument.withDescription(`A folder, or a URL: ${sourceKinds.map(({ example }) => example).join(", ")}`)
    ),
    kind: optionalFlag(
      Flag.Literals(
        "kind",
        sourceKinds.map(({ id }) => id)
      ),
      "What the address is. Default: by its form; a site for http and https"
    ),
    name: optionalFlag(
      Flag.String("name"),
      "The source's name, which its documents begin with. Default: from the address"
    ),
    ...libraryFlags,
    watch: booleanFlag("watch", "Keep running, and follow each change of a folder"),
    every: optionalFlag(countFlag("every"), "Keep running, and sync again after this many minutes")
  },
  ({ address, collection, data, every, json, kind: id, name: given, watch }) =>
    withLibrary({ data, missing: "create", collection }, function* (library) {
      yield* rejectServed
      const kind = sourceKind(address, Option.getOrUndefined(id))
      if (kind === undefined) return yield* new SourceFault({ message: unknownKind(address) })
      const name = Option.getOrElse(given, () => sourceNameOf(address, kind.id))
      const sync = syncOnce(library, { address, json, kind, name, watch })
      const kept = noteOnInterrupt(
        "What was written stays, and nothing was removed for what was not read yet. Run it again to continue"
      )
      if (Option.isNone(every)) return yield* kept(sync)
      yield* note(`Syncing again every ${plural(every.value, "minute")}. Ctrl-C stops.`)
      yield* sync.pipe(
        Effect.catchTag("SourceFault", ({ message }) => note(`not synced: ${message}`)),
        Effect.repeat(Schedule.spaced(`${every.value} minutes`)),
        kept
      )
    })
).pipe(
  Command.withDescription(
    "Keep the documents of a folder, a Git repository, a web site or a bucket up to date in the library. " +
      "What the source no longer has is removed. SLUICE_SOURCE_CREDENTIAL has user:password or a token"
  ),
  examples({
    "sluice sync ./handbook --watch": "Follow a folder",
    "sluice sync https://github.com/owner/name.git --every 60": "A repository, again each hour",
    "sluice sync https://example.com/sitemap.xml": "The pages of a sitemap",
    "sluice sync s3://bucket/docs/?region=eu-west-1": "A bucket"
  })
)
