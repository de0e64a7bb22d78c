import { Context } from "effect"

/** Who makes a call, as authentication found out. Handlers read it; only the two security middlewares provide it. */
export class Principal extends Context.Service<
  Principal,
  {
    readonly user: string
    /** The API key used, by its identifier and never its value; absent for calls of `/api`. */
    readonly key?: string
  }
>()("@sluice/core/Principal") {}
