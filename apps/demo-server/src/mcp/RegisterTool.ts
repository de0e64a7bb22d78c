/** Registers a tool with the MCP server. */
import type { Failure } from "@sluice/core/contract"
import type { RagError } from "@sluice/rag"
import { Cause, Context, Effect, Function, Schema } from "effect"
import { McpSchema, McpServer } from "effect/ai"

/** What the documents of a caller fail with. */
export type AccessError = Failure | RagError

/** What a tool returns: a text for the model, and the same as data. */
interface ToolResult<A> {
  readonly text: string
  readonly content: A
}

/** Errors of the HTTP interface name its endpoints. */
const withToolNames = (message: string): string =>
  message.replaceAll(/GET \/(?:documents|collections)\b/g, "The tool `list_documents`")

const failed = (text: string) =>
  new McpSchema.CallToolResult({ isError: true, content: [McpSchema.TextContent.make({ text })] })

const jsonSchemaOf = Function.memoize((schema: Schema.Top) => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  return Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions }
})

interface ToolOptions<Arguments, Result, R> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: Schema.Codec<Arguments, unknown>
  readonly result: Schema.Codec<Result, unknown>
  readonly run: (parameters: Arguments) => Effect.Effect<ToolResult<Result>, AccessError, R>
}

/** Registers a tool that only reads. Every failure is a result that the model can read and act on. */
export const registerTool = Effect.fnUntraced(function* <Arguments, Result, R>(
  messageOf: (error: AccessError) => string,
  { description, name, parameters, result, run, title }: ToolOptions<Arguments, Result, R>
) {
  const server = yield* McpServer.McpServer
  const decode = Schema.decodeUnknownEffect(parameters)
  // Fields that the schema lacks are left out.
  const encode = Schema.encodeUnknownSync(result)
  const call = (payload: unknown) =>
    decode(payload ?? {}, { onExcessProperty: "error", errors: "all" }).pipe(
      Effect.mapError(({ message }) => `Wrong arguments of \`${name}\`: ${message}`),
      Effect.flatMap((decoded) => Effect.mapError(run(decoded), (error) => withToolNames(messageOf(error)))),
      Effect.map(
        ({ content, text }) =>
          new McpSchema.CallToolResult({
            content: [McpSchema.TextContent.make({ text })],
            structuredContent: encode(content)
          })
      ),
      Effect.catch((message) => Effect.succeed(failed(message))),
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.failCause(cause)
          : Effect.as(
              Effect.logError(`The tool ${name} failed`, cause),
              failed("Internal error. Report it with the server's log")
            )
      ),
      Effect.withSpan(`mcp.${name}`)
    )
  yield* server.addTool({
    tool: new McpSchema.Tool({
      name,
      title,
      description,
      inputSchema: { type: "object", ...jsonSchemaOf(parameters) },
      outputSchema: jsonSchemaOf(result),
      annotations: McpSchema.ToolAnnotations.make({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false
      })
    }),
    annotations: Context.empty(),
    // The route provides what a call requires to each request.
    handle: call as (payload: unknown) => Effect.Effect<McpSchema.CallToolResult>
  })
})
