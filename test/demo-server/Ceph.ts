/**
 * Ceph's S3, from Debian's packages and without Docker: a monitor, an OSD on a file, and a gateway, for as long as the scope.
 *
 * `apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-common`, or the same packages unpacked below
 * `CEPH_ROOT`. They hold 150 MB at the start, and 1 GB under load.
 */
import { Effect, Schedule } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { createHash, createHmac, randomUUID } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { freePort } from "../../bench/server/FreePort.ts"
import { temporaryFolder } from "./TestServer.ts"

const ROOT = process.env["CEPH_ROOT"] ?? ""
const LIBRARIES = `${ROOT}/usr/lib/x86_64-linux-gnu`
const BLOCK_BYTES = 8 * 1024 ** 3

/** The key and the secret of the one user. */
const KEY = "test"
const REGION = "us-east-1"

const environment = {
  ...process.env,
  ...(ROOT !== "" && {
    LD_LIBRARY_PATH: `${LIBRARIES}:${LIBRARIES}/ceph:${ROOT}/lib/x86_64-linux-gnu`,
    PYTHONPATH: `${ROOT}/usr/lib/python3/dist-packages`
  })
}

/** One copy of everything, and no keys between the daemons. */
const configuration = (folder: string, fsid: string, address: string) => `[global]
fsid = ${fsid}
mon host = ${address}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms cluster mode = crc
ms service mode = crc
ms client mode = crc
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
osd crush chooseleaf type = 0
osd objectstore = bluestore
bluestore block size = ${BLOCK_BYTES}
osd memory target = 939524096
run dir = ${folder}
admin socket = ${folder}/$name.asok
log file = ${folder}/$name.log
pid file = ${folder}/$name.pid
keyring = ${folder}/keyring
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
plugin dir = ${LIBRARIES}/ceph
erasure code dir = ${LIBRARIES}/ceph/erasure-code
osd class dir = ${LIBRARIES}/rados-classes
`

/** Creates a bucket, by a request that is signed as S3 asks (version 4). */
const createBucket = async (endpoint: string, bucket: string): Promise<boolean> => {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "")
  const day = time.slice(0, 8)
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest()
  const scope = `${day}/${REGION}/s3/aws4_request`
  const [empty, names] = [sha256(""), "host;x-amz-content-sha256;x-amz-date"]
  const headers = `host:${new URL(endpoint).host}\nx-amz-content-sha256:${empty}\nx-amz-date:${time}\n`
  const request = `PUT\n/${bucket}\n\n${headers}\n${names}\n${empty}`
  const key = [day, REGION, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${KEY}`)
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(request)}`).toString("hex")
  const { status } = await fetch(`${endpoint}/${bucket}`, {
    method: "PUT",
    headers: {
      "x-amz-date": time,
      "x-amz-content-sha256": empty,
      authorization: `AWS4-HMAC-SHA256 Credential=${KEY}/${scope}, SignedHeaders=${names}, Signature=${signature}`
    }
  })
  return status === 200
}

/** The variables by which LanceDB reaches it. It has the bucket `bucket`. */
export const cephVariables = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const [monitor, old, gateway] = yield* Effect.promise(() => Promise.all([1, 2, 3].map(() => freePort())))
  const address = `[v2:127.0.0.1:${monitor},v1:127.0.0.1:${old}]`
  const [fsid, osd] = [randomUUID(), randomUUID()]
  const file = join(folder, "ceph.conf")
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    Effect.promise(() => promisify(execFile)(`${ROOT}/usr/bin/${program}`, args, { env: environment }))
  const start = (program: string, ...args: ReadonlyArray<string>) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        spawn(`${ROOT}/usr/bin/${program}`, ["-c", file, "-f", ...args], {
          env: environment,
          stdio: "ignore"
        })
      ),
      (child: ChildProcess) => Effect.sync(() => child.kill("SIGKILL"))
    )
  yield* Effect.promise(async () => {
    for (const name of ["mon", "osd", "rgw"]) await mkdir(join(folder, name))
    await writeFile(file, configuration(folder, fsid, address))
  })
  const [keyring, map] = [join(folder, "keyring"), join(folder, "monmap")]
  yield* run(
    "ceph-authtool",
    "--create-keyring",
    keyring,
    "--gen-key",
    "-n",
    "mon.",
    "--cap",
    "mon",
    "allow *"
  )
  yield* run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", address, map)
  yield* run("ceph-mon", "-c", file, "--mkfs", "-i", "a", "--monmap", map, "--keyring", keyring)
  yield* start("ceph-mon", "-i", "a")
  yield* run("ceph", "-c", file, "osd", "create", osd, "0")
  yield* run("ceph-osd", "-c", file, "-i", "0", "--mkfs", "--osd-uuid", osd)
  yield* start("ceph-osd", "-i", "0")
  const user = ["--uid=test", "--display-name=test", `--access-key=${KEY}`, `--secret=${KEY}`]
  yield* run("radosgw-admin", "-c", file, "user", "create", ...user)
  yield* start("radosgw", "-n", "client.rgw", `--rgw-frontends=beast endpoint=127.0.0.1:${gateway}`)
  const endpoint = `http://127.0.0.1:${gateway}`
  yield* Effect.repeat(
    Effect.promise(() => createBucket(endpoint, "bucket").catch(() => false)),
    { schedule: Schedule.spaced("500 millis"), until: (created) => created }
  ).pipe(Effect.timeout("2 minutes"), Effect.orDie)
  return {
    AWS_ACCESS_KEY_ID: KEY,
    AWS_SECRET_ACCESS_KEY: KEY,
    AWS_REGION: REGION,
    AWS_ENDPOINT: endpoint,
    AWS_ALLOW_HTTP: "true"
  }
})
