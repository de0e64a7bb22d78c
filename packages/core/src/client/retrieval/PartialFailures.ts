/** Of many texts some have their vectors, and others a reason why not. */
import { PartialFailure, asSentence } from "../../contract/GatewayError.ts"

/** `failed` and `kept` are positions in the input; `first` is why the first of those failed. */
export const partialFailure = ({
  failed,
  first,
  kept
}: Pick<PartialFailure, "failed" | "kept" | "first">): PartialFailure =>
  new PartialFailure({
    message: `${failed.length} of ${failed.length + kept.size} texts have no vector: ${asSentence(first.message)} Call again with those alone; the others are in \`kept\`.`,
    failed,
    kept,
    first
  })
