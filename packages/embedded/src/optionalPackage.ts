/** Packages that are heavy and not for everybody: loaded when they are needed, named when they are missing. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Effect } from "effect"

/** What a group of optional packages is for. */
export interface OptionalUse {
  /** Which call needs them, such as `vision`. */
  readonly operation: string
  /** Begins the sentence of the error, such as “Looking at pictures”. */
  readonly doing: string
  /** All of them, for one command that installs them. */
  readonly packages: ReadonlyArray<string>
}

/** How to load one package of the group: the module, or an error that says how to install the group. */
export const optionalPackageFor =
  ({ doing, operation, packages }: OptionalUse) =>
  <A>(name: string, load: () => Promise<A>): Effect.Effect<A, GatewayError> =>
    Effect.tryPromise({
      try: load,
      catch: () =>
        new GatewayError({
          operation,
          reason: new InvalidRequest({
            message: `${doing} in this process needs the package ${name}: npm install ${packages.join(" ")}`
          })
        })
    })
