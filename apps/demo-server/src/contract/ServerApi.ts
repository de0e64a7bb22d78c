/** Every endpoint of the server in one HttpApi: the gateway's, and those of the documents. */
import {
  AccountGroup,
  ChatGroup,
  EmbeddingsGroup,
  ImagesGroup,
  MalformedRequest,
  ModelsGroup,
  RerankGroup,
  VideosGroup
} from "@sluice/core/contract"
import { HttpApi, OpenApi } from "effect/http-api"
import { Administration } from "./Administration.ts"
import { Collections } from "./Collections.ts"
import { described } from "./OpenApi.ts"
import { Documents } from "./Documents.ts"
import { Figures } from "./Figures.ts"
import { Qa } from "./Qa.ts"
import { Session } from "./Session.ts"
import { Status } from "./Status.ts"
import { Usage } from "./Usage.ts"

export class ServerApi extends HttpApi.make("sluice")
  .add(RerankGroup, EmbeddingsGroup, ChatGroup, ModelsGroup, AccountGroup)
  .add(ImagesGroup, VideosGroup)
  .middleware(MalformedRequest)
  .add(Documents)
  .add(Collections)
  .add(Figures)
  .add(Qa)
  .add(Status)
  .add(Session)
  .add(Administration)
  .add(Usage)
  .annotateMerge(
    OpenApi.annotations({
      title: "Sluice",
      version: "0.1.0",
      transform: described,
      description:
        "Ask your documents and get cited answers; and a gateway to the models that do it. " +
        "`/v1` wants the API key, `/api` the system access token, the documents the API key; the page's session " +
        "opens all three to the page itself."
    })
  ) {}
