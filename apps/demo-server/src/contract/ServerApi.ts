/** Every endpoint of the server in one HttpApi: client, handlers' types and OpenAPI come from it. */
import { HttpApi, OpenApi } from "effect/http-api"
import { Documents } from "./Documents.ts"
import { Qa } from "./Qa.ts"
import { Session } from "./Session.ts"
import { Status } from "./Status.ts"

export class ServerApi extends HttpApi.make("sluice")
  .add(Documents)
  .add(Qa)
  .add(Status)
  .add(Session)
  .annotateMerge(
    OpenApi.annotations({
      title: "Sluice",
      version: "0.1.0",
      description: "Retrieval with evidence: ask your documents, over one typed gateway"
    })
  ) {}
