import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { openLmdb } from '../disk/lmdb-file.js'
import type { SubWalletId, TxId, UserId } from '../domain/ids.js'
import { type DamagedRecord, openSpace, type Space } from './checked-space.js'
import { packedRecord } from './encodings/sealing.js'
import {
  isOpened,
  KEY_SPACES,
  type KeySpace,
  NAMES_INDEXED_SINCE,
  SCHEMA_VERSION,
} from './key-spaces.js'
import { buildNameIndex } from './name-index.js'
import { putOf, type Row } from './rows.js'
import { attachVersions, createVersionsBuffer, type Versions } from './versions.js'
import { WrittenBodies } from './written-bodies.js'

export interface Environment {
  readonly root: RootDatabase
  readonly spaces: Readonly<Record<KeySpace, Space>>
  /**
   * Versions by id, of transactions and of what sub-wallets and their keys have spent; by user id,
   * of the user's webhook endpoints and of the set of sub-wallets.
   */
  readonly recordVersions: Versions<TxId | SubWalletId | UserId>
  /** Belongs to this thread. */
  readonly writtenBodies: WrittenBodies
  /** Reports that a damaged record was skipped, once for each record. */
  readonly noteDamage: (damage: DamagedRecord) => void
}

/** What to do with a store whose restore is not finished (`isHalfRestored`). */
export type Half = 'refused' | 'opened'

/** Up to this many damaged records are reported once and not at every pass. */
const NOTED_MAX = 1_000

/** LMDB reserves 1 TiB of address space, not disk; the file grows as it fills. */
const MAP_SIZE_BYTES = 2 ** 40

const KEY_SPACES_MAX = 64

const DATA_FILE = 'data.mdb'

/**
 * Opens the service's LMDB environment. Each thread of a process opens it, and lmdb gives all of
 * them the same map.
 *
 * `overlappingSync` is off. With it, lmdb-js resolves a write at commit and not at fsync, and a
 * transaction could be broadcast whose record a power failure then loses.
 * @param recordVersions shared by the threads of a process that open the same directory
 * @param damaged called for damaged records that a pass over many skips; others are thrown
 * @param half 'opened' only for callers that restore a store, which may be unfinished
 * @throws Error if a build of another schema wrote the data, or if its file is truncated or not a
 * store
 */
export function openEnvironment(
  directory: string,
  recordVersions = createVersionsBuffer(),
  damaged: (damage: DamagedRecord) => void = () => undefined,
  half: Half = 'refused',
): Environment {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const environment = opened(directory, recordVersions, damaged)
  claimSchema(environment, directory, half)
  return environment
}

/**
 * Opens a service's store for a command that runs at the same time. The service may be an earlier
 * build and continue to write, so the store keeps its schema: an index of names that this build
 * creates would lack what is written later.
 * @throws Error as `openEnvironment`, and if there is no store: a misspelt home must not create one
 */
export function openBesideService(
  directory: string,
  damaged: (damage: DamagedRecord) => void = () => undefined,
  half: Half = 'refused',
): Environment {
  if (!existsSync(join(directory, DATA_FILE))) throw new Error(`${directory} contains no store`)
  const environment = opened(directory, createVersionsBuffer(), damaged)
  const version = schemaOf(environment)
  if (version === RESTORING && half === 'opened') return environment
  if (version !== undefined && !isOpened(version)) throw ofAnotherSchema(directory, version)
  return environment
}

/**
 * Checks whether this build opens a store, which a service may be using. It changes nothing.
 * @param half as in `openEnvironment`
 * @throws Error as `openEnvironment`
 */
export async function requireOpenedSchema(
  directory: string,
  half: Half = 'refused',
): Promise<void> {
  const file = join(directory, DATA_FILE)
  if (!existsSync(file)) return
  const root = openLmdb({ path: directory, maxDbs: KEY_SPACES_MAX, readOnly: true })
  try {
    if (![...root.getKeys()].includes(KEY_SPACES.meta)) return
    const meta = openSpace(root, { file, space: 'meta', noteDamage: () => undefined })
    const version = schemaOf({ spaces: { meta } })
    if (version === RESTORING && half === 'opened') return
    if (version !== undefined && !isOpened(version)) throw ofAnotherSchema(directory, version)
  } finally {
    await root.close()
  }
}

function opened(
  directory: string,
  recordVersions: SharedArrayBuffer,
  damaged: (damage: DamagedRecord) => void,
): Environment {
  const file = join(directory, DATA_FILE)
  const root = openLmdb({
    path: directory,
    maxDbs: KEY_SPACES_MAX,
    mapSize: MAP_SIZE_BYTES,
    overlappingSync: false,
  })
  const noteDamage = onceEach(damaged)
  const spaces = {} as Record<KeySpace, Space>
  for (const space of Object.keys(KEY_SPACES) as KeySpace[]) {
    spaces[space] = openSpace(root, { file, space, noteDamage })
  }
  return {
    root,
    spaces,
    recordVersions: attachVersions(recordVersions),
    writtenBodies: new WrittenBodies(),
    noteDamage,
  }
}

/** The key in `meta`. */
export const SCHEMA_KEY = 'schema_version'

/**
 * Replaces the schema version while a store is being restored from a snapshot, so that no build of
 * any schema takes the unfinished store for a whole one.
 */
const RESTORING = 'restoring'

/** Marks the start of a restore. Write it in one transaction with the removals. */
export const restoringRow = (): Row => putOf('meta', SCHEMA_KEY, packedRecord(RESTORING))

/** Marks the end of a restore. Write it last. */
export const restoredRow = (): Row => putOf('meta', SCHEMA_KEY, packedRecord(SCHEMA_VERSION))

/** Whether the process that restored this store ended before the restore did. */
export function isHalfRestored({ spaces }: Pick<Environment, 'spaces'>): boolean {
  return schemaOf({ spaces }) === RESTORING
}

/** The first schema whose records are sealed. */
const SEALED_SINCE = 12

/** A store has one schema from its first record to its last, and this build reads no other form. */
function claimSchema(environment: Environment, directory: string, half: Half): void {
  const version = schemaOf(environment)
  if (version === SCHEMA_VERSION) return
  // The store has a position in the journal, so it is not taken for a store without one:
  // `isHalfRestored`.
  if (version === RESTORING && half === 'opened') return
  if (version !== undefined && !isOpened(version)) throw ofAnotherSchema(directory, version)
  // The journal may still have entries of an older schema, which `applyRows` indexes.
  if (Number(version) < NAMES_INDEXED_SINCE) buildNameIndex(environment)
  environment.spaces.meta.putSync(SCHEMA_KEY, packedRecord(SCHEMA_VERSION))
}

/** @returns undefined for a new store */
function schemaOf({ spaces: { meta } }: { readonly spaces: Pick<Environment['spaces'], 'meta'> }) {
  return meta.isSealed(SCHEMA_KEY) ? meta.get(SCHEMA_KEY) : `${SEALED_SINCE - 1} or earlier`
}

function ofAnotherSchema(directory: string, version: unknown): Error {
  if (version === RESTORING) {
    return new Error(
      `the restore of ${directory} from a snapshot of its journal is not finished; start the service with its journal, and it begins the restore again`,
    )
  }
  return new Error(
    `${directory} has schema version ${String(version)}, but this build reads only ${SCHEMA_VERSION}. Start the build that wrote it, or use another home (to reset a dev home: npm run dev -- reset)`,
  )
}

function onceEach(damaged: (damage: DamagedRecord) => void) {
  const noted = new Set<string>()
  return (damage: DamagedRecord) => {
    if (noted.has(damage.message)) return
    if (noted.size >= NOTED_MAX) noted.clear()
    noted.add(damage.message)
    damaged(damage)
  }
}
