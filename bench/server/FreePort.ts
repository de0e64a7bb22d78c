/** Asks the operating system for a free port on loopback. */
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  await new Promise((done) => probe.close(done))
  return port
}
