/** Throws when a Node that is too old imports it: otherwise the first call fails, with a message about something else. */
const OLDEST = { major: 22, minor: 19 }

/** Absent where no Node API is. Deno and Bun name the version that they are compatible with. */
const version = globalThis.process?.versions?.node

const [major = 0, minor = 0] = version?.split(".").map(Number) ?? []

if (version !== undefined && (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)))
  throw new Error(
    `Sluice needs Node ${OLDEST.major}.${OLDEST.minor} or newer; this is ${version}. Install a newer Node, or add one to ` +
      "this project: npm install --save-dev node@24"
  )
