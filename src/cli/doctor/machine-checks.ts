import { statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { VERSION } from '../../api/version.js'
import { BYTES_PER_MIB, diskFloorBytes } from '../../config/disk-floor.js'
import { usualAdapter } from '../../http/uws.js'
import type { Environment } from './environments.js'
import { check, concern, type Finding, failure, fine } from './finding.js'

/** Checks the machine and the program, independent of the home. */

/** Room for a day of logs and imports above the floor at which writes stop. */
const ROOM_FLOORS = 4

export async function machineChecks(
  home: string,
  service: Environment,
): Promise<readonly Finding[]> {
  const checked = await Promise.all([
    check('versions', 'npm install countersign, again', versions),
    check('signing library', 'npm install countersign, again, on this machine', signingLibrary),
    check('disk', `check the file system of ${home}`, () => disk(home, service)),
  ])
  return checked.flat()
}

function versions(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const found = `countersign ${VERSION}, Node ${process.version}, HTTP by ${usualAdapter()}`
  const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major === 24
  return isSupported
    ? fine('versions', found)
    : concern('versions', found, 'run it with Node 20.19, 22 or 24')
}

/** @throws Error when the machine has no binding */
function signingLibrary(): Finding {
  createRequire(import.meta.url)('secp256k1/bindings.js')
  return fine('signing library', 'native secp256k1')
}

async function disk(home: string, service: Environment): Promise<Finding> {
  const floorBytes = diskFloorBytes(service)
  const { bavail, bsize } = await statfs(home)
  const freeBytes = bavail * bsize
  const found = `${mib(freeBytes)} MiB free; writes stop below ${mib(floorBytes)}`
  const wayOut =
    'free space beside the home (logs, old backups), or a larger disk: stores never get smaller'
  if (freeBytes < floorBytes) return failure('disk', found, wayOut)
  return freeBytes < ROOM_FLOORS * floorBytes ? concern('disk', found, wayOut) : fine('disk', found)
}

function mib(bytes: number): string {
  return Math.floor(bytes / BYTES_PER_MIB).toString()
}
