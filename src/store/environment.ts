import { mkdirSync } from 'node:fs'
import { type Database, open, type RootDatabase } from 'lmdb'
import type { TxId, UserId } from '../domain/ids.js'
import { RECORD_ENCODER } from './encodings/packing.js'
import { KEY_SPACES, type KeySpace, SCHEMA_VERSION, SCHEMA_VERSIONS_READ } from './key-spaces.js'
import { KnownBodies } from './known-bodies.js'
import { attachVersions, createVersionsBuffer, type Versions } from './versions.js'

/** lmdb keys: strings, numbers, and tuples of them, ordered as one expects. */
export type StoreKey = string | number | (string | number)[]

export interface Environment {
  readonly root: RootDatabase
  readonly spaces: Readonly<Record<KeySpace, Database<unknown, StoreKey>>>
  /** Of transactions by their id, and of a user's webhook endpoints by the user's. */
  readonly recordVersions: Versions<TxId | UserId>
  /** Of this thread. */
  readonly knownBodies: KnownBodies
}

/** LMDB reserves address space, not disk; the file grows as it fills. 1 TiB. */
const MAP_SIZE_BYTES = 2 ** 40

const KEY_SPACES_MAX = 64

const RECORD_ENCODING = { encoding: 'msgpack', encoder: RECORD_ENCODER } as const

/**
 * Opens the service's LMDB environment. Threads of one process share it: each opens it anew and
 * lmdb hands out the same map.
 *
 * `overlappingSync` is off: with it on, lmdb-js resolves a write at commit and not at fsync, and
 * a broadcast could go out on bytes that a power cut takes back.
 * @param recordVersions shared by the threads of a process that open the same directory
 * @throws Error when the data was written by a newer version
 */
export function openEnvironment(
  directory: string,
  recordVersions = createVersionsBuffer(),
): Environment {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const root = open({
    path: directory,
    maxDbs: KEY_SPACES_MAX,
    mapSize: MAP_SIZE_BYTES,
    overlappingSync: false,
    encoding: 'msgpack',
  })
  const spaces = {} as Record<KeySpace, Database<unknown, StoreKey>>
  for (const [space, name] of Object.entries(KEY_SPACES) as [KeySpace, string][]) {
    spaces[space] = root.openDB<unknown, StoreKey>({ name, ...RECORD_ENCODING })
  }
  const version = spaces.meta.get('schema_version')
  if (version === undefined || SCHEMA_VERSIONS_READ.includes(version)) {
    spaces.meta.putSync('schema_version', SCHEMA_VERSION)
  } else if (version !== SCHEMA_VERSION) {
    throw new Error(
      `${directory} holds schema version ${String(version)}, this build reads ${SCHEMA_VERSION}`,
    )
  }
  return {
    root,
    spaces,
    recordVersions: attachVersions(recordVersions),
    knownBodies: new KnownBodies(),
  }
}
