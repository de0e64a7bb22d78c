/** Opens sources on the server: public addresses, and the folders that the operator allows. */
import { Failure } from "@sluice/core/contract"
import { DocumentFormats } from "@sluice/rag/formats"
import { Effect } from "effect"
import { Users } from "../accounts/Users.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { ServerAddressPolicy } from "../network/PublicFile.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import type { SourceFault } from "./kinds/SourceKind.ts"
import { sourceKind } from "./kinds/SourceKinds.ts"
import { makeSourceCredentials } from "./SourceCredentials.ts"
import type { StoredSource } from "./SourceStore.ts"

export const FOLDER = "folder"

export const administratorNeeded = (message: string) =>
  new Failure({ status: 403, message, code: "administrator_needed" })

const unreadable = ({ message }: Pick<SourceFault, "message">) =>
  new Failure({ status: 502, message, code: "source_unreadable" })

export const makeSourceReading = Effect.gen(function* () {
  const users = yield* Users
  const credentials = yield* makeSourceCredentials
  const { sourceFolders: folders } = (yield* ServerConfig).operation
  const access = { policy: yield* ServerAddressPolicy, folders, formats: yield* DocumentFormats }
  return {
    folders,
    credentials,
    unreadable,
    /** Checks that the user may have such a source now. */
    open: Effect.fn("Sources.open")(function* (row: StoredSource) {
      const { address, kind: id, name, user_id } = row
      const kind = sourceKind(address, id)
      if (kind === undefined)
        return yield* unreadable({ message: `This version does not read sources of the kind ${id}` })
      if (id === FOLDER && (yield* catchSqlError(users.get(user_id)))?.role !== "admin")
        return yield* administratorNeeded(
          "Who added this folder is no administrator any more. An administrator can add it again"
        )
      const credential = yield* credentials.of(row)
      return yield* Effect.mapError(kind.open({ name, address, credential }, access), unreadable)
    })
  }
})
